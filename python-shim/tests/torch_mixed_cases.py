"""Groups with another backend for the tensors of another device.

The other backend is torch's "fake", whose operations do nothing, so results tell who has run them.
"""

import inspect
import time
from datetime import timedelta

import torch
import torch.distributed as dist

DEVICE = "otherdevice"
CONFIGURATIONS = [f"cpu:spark,{DEVICE}:fake", f"{DEVICE}:fake,cpu:spark"]


def _on_device(value=1.0, count=4):
    return torch.full((count,), value, device=DEVICE)


def _totals(group, rank, size):
    """Sum up a tensor of each device; return what the first elements have become."""
    here, there = torch.full((2,), rank + 1.0), _on_device(rank + 1.0)
    dist.all_reduce(here, group=group)
    dist.all_reduce(there, group=group)
    return here[0].item(), there[0].item()


def _expect_both(group, rank, size, members):
    summed = sum(each + 1.0 for each in members)
    assert _totals(group, rank, size) == (summed, rank + 1.0)


def _run(rank, size):
    from spark_collectives.torch import MixedProcessGroup, SparkProcessGroup

    group = dist.group.WORLD
    assert type(group) is MixedProcessGroup and isinstance(group, dist.ProcessGroup)
    assert sorted(each.type for each in group._device_types) == ["cpu", DEVICE]
    cpu, other = torch.device("cpu"), torch.device(DEVICE)
    assert group._get_backend(cpu) is group and group.get_backend(cpu) is group
    assert type(group._get_backend(other)).__name__ == "FakeProcessGroup"
    _expect_both(group, rank, size, range(size))

    calls = {
        "broadcast": lambda t: dist.broadcast(t, 0),
        "reduce": lambda t: dist.reduce(t, 0),
        "all_gather": lambda t: dist.all_gather([torch.empty_like(t) for _ in range(size)], t),
        "all_gather_into": lambda t: dist.all_gather_into_tensor(t.repeat(size), t),
        "reduce_scatter": lambda t: dist.reduce_scatter(torch.empty_like(t), [t] * size),
        "reduce_scatter_tensor": lambda t: dist.reduce_scatter_tensor(
            torch.empty_like(t), t.repeat(size)
        ),
        "all_to_all_single": lambda t: dist.all_to_all_single(torch.empty_like(t), t),
        "all_to_all": lambda t: dist.all_to_all([torch.empty_like(t)] * size, [t] * size),
        "gather": lambda t: dist.gather(
            t, [torch.empty_like(t) for _ in range(size)] if rank == 0 else None
        ),
        "scatter": lambda t: dist.scatter(torch.empty_like(t), [t] * size if rank == 0 else None),
    }
    for name, call in calls.items():
        before = group._get_sequence_number_for_group()
        call(_on_device())
        assert group._get_sequence_number_for_group() == before, name
        call(torch.ones(4))
        assert group._get_sequence_number_for_group() == before + 1, name

    work = dist.all_reduce(_on_device(), async_op=True)
    assert work.wait() and not type(work).__name__.startswith("Spark")
    if size > 1:
        dist.send(_on_device(), (rank + 1) % size)
        dist.recv(_on_device(), (rank + 1) % size)
    _barriers(group)
    _blocks(group, size)
    _timeouts(group)
    _splits(rank, size)

    gathered = [None] * size
    dist.all_gather_object(gathered, rank)
    assert gathered == list(range(size))

    for backend in (None, *CONFIGURATIONS):
        some = dist.new_group([0, 1], backend=backend) if size > 1 else dist.new_group([0])
        if rank < 2:
            assert type(some) is MixedProcessGroup
            _expect_both(some, rank, size, range(min(2, size)))
            dist.destroy_process_group(some)
    alone = dist.new_group(backend="spark")
    assert type(alone) is SparkProcessGroup
    total = _on_device()
    dist.all_reduce(total, group=alone)
    assert total[0].item() == size


def _barriers(group):
    def counted(options):
        before = group._get_sequence_number_for_group()
        group.barrier(options).wait()
        return group._get_sequence_number_for_group() - before

    def on(device):
        options = dist.BarrierOptions()
        options.device = torch.device(device)
        return options

    assert counted(None) == 1
    assert counted(on("cpu")) == 1
    assert counted(on(DEVICE)) == 0
    dist.barrier()

    tensor = torch.ones(70_000)
    dist.all_reduce(tensor, async_op=True)
    work = group.barrier(on(DEVICE))
    assert work.wait()
    # The work of the fake backend does not say in all versions that it is done.
    assert (tensor == group.size()).all()
    if group.size() > 1:
        _messages(group, lambda: group.barrier(on(DEVICE)).wait())


def _messages(group, barrier):
    """Drop messages, and expect that barriers on the other device deliver them."""
    rank, size = group.rank(), group.size()
    received = torch.zeros(3)
    dist.irecv(received, (rank - 1) % size)
    dist.send(torch.full((3,), rank + 7.0), (rank + 1) % size)
    deadline = time.monotonic() + 30
    # The barriers of the fake backend wait for nobody.
    while not (received == (rank - 1) % size + 7.0).all():
        assert time.monotonic() < deadline
        barrier()


def _blocks(group, size):
    from torch.distributed.distributed_c10d import _coalescing_manager

    tensors = [torch.ones(2), torch.ones(3)]
    with _coalescing_manager():
        for tensor in tensors:
            dist.all_reduce(tensor)
    assert [each[0].item() for each in tensors] == [size, size]
    with _coalescing_manager(device=torch.device("cpu"), async_ops=True) as block:
        dist.broadcast(tensors[0], 0)
    block.wait()
    with _coalescing_manager():
        dist.all_reduce(_on_device())


class _Heard:
    """A group of torch that remembers its timeouts."""

    def __init__(self, group):
        self._group = group
        self.timeouts = []

    def __getattr__(self, name):
        return getattr(self._group, name)

    def set_timeout(self, timeout):
        self.timeouts.append(timeout)


def _timeouts(group):
    before, own = group.base, group._timeout
    group.base = _Heard(before)
    try:
        group.set_timeout(timedelta(seconds=50))
        assert group._timeout == 50 and group.base.timeouts == [timedelta(seconds=50)]
    finally:
        group.base, group._timeout = before, own


def _splits(rank, size):
    from spark_collectives.torch import MixedProcessGroup

    if not hasattr(dist, "split_group"):
        return
    halves = [list(range(size))[i::2] for i in range(min(2, size))]
    mine = halves[rank % 2]
    try:
        half = dist.split_group(split_ranks=halves)
    except RuntimeError as e:
        # Older versions of torch split only groups that are bound to a GPU.
        assert "No device associated with the default pg" in str(e)
        return
    assert type(half) is MixedProcessGroup
    _expect_both(half, rank, size, mine)
    same = dist.split_group(half, split_ranks=[list(range(len(mine)))])
    _expect_both(same, rank, size, mine)
    dist.destroy_process_group(same)
    if "backend" in inspect.signature(dist.split_group).parameters:
        host = dist.split_group(split_ranks=halves, backend="cpu:spark")
        # Without the other backend, its tensors go by way of the host.
        assert host._get_backend(torch.device(DEVICE)) is host
        total = _on_device()
        dist.all_reduce(total, group=host)
        assert total[0].item() == len(mine)
        dist.destroy_process_group(host)


def all_of_a_mixed_group(rank, size, configuration):
    """Use a mixed group; return what failed."""
    import traceback

    from torch.testing._internal.distributed import fake_pg  # noqa: F401

    import other_device

    other_device.register()
    dist.destroy_process_group()
    dist.init_process_group(configuration)
    try:
        _run(rank, size)
    except Exception:
        return traceback.format_exc()
    return None

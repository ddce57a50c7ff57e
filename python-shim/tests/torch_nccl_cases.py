"""Groups of the backends "spark" and "nccl". Each case is called with the rank and the size."""

import inspect

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import torch_gpu_cases as gpu
from torch_values import same

DEVICE = gpu.DEVICE


def _ones(count=4, device=DEVICE):
    return torch.ones(count, device=device)


def each_device_has_its_backend(rank, size):
    group = dist.group.WORLD
    assert group._get_backend(torch.device("cpu")) is group
    assert "nccl" in type(group._get_backend(DEVICE)).__name__.lower()
    assert sorted(each.type for each in group._device_types) == ["cpu", "cuda"]
    for count in (1, 1000, 1_000_000):
        before = group._get_sequence_number_for_group()
        there = _ones(count) * (rank + 1)
        dist.all_reduce(there)
        assert group._get_sequence_number_for_group() == before
        here = _ones(count, "cpu") * (rank + 1)
        dist.all_reduce(here)
        assert group._get_sequence_number_for_group() == before + 1
        same(there.cpu(), here)


def collectives(rank, size):
    tensor = _ones() * rank
    dist.broadcast(tensor, size - 1)
    same(tensor, _ones() * (size - 1))
    outputs = [torch.empty(4, device=DEVICE) for _ in range(size)]
    dist.all_gather(outputs, _ones() * rank)
    for other, output in enumerate(outputs):
        same(output, _ones() * other)
    whole = torch.empty(4 * size, device=DEVICE)
    dist.all_gather_into_tensor(whole, _ones() * rank)
    same(whole, torch.arange(size, device=DEVICE).repeat_interleave(4).float())
    part = torch.empty(4, device=DEVICE)
    dist.reduce_scatter_tensor(part, _ones(4 * size))
    same(part, _ones() * size)
    dist.all_to_all_single(whole, _ones(4 * size) * rank)
    same(whole, torch.arange(size, device=DEVICE).repeat_interleave(4).float())


def futures(rank, size):
    work = dist.all_reduce(_ones(), async_op=True)
    result = work.get_future().then(lambda done: done.value()[0] * 2).wait()
    same(result, _ones() * 2 * size)


def messages(rank, size):
    if "type(group) is ProcessGroup" in inspect.getsource(dist.batch_isend_irecv):
        return  # such a torch makes no batch of the messages of a group like this one
    following, previous = (rank + 1) % size, (rank - 1) % size
    received = torch.empty(4, device=DEVICE)
    operations = [
        dist.P2POp(dist.isend, _ones() * rank, following),
        dist.P2POp(dist.irecv, received, previous),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    same(received, _ones() * previous)


def blocks(rank, size):
    from torch.distributed.distributed_c10d import _coalescing_manager

    tensors = [_ones(), _ones(7)]
    with _coalescing_manager(device=DEVICE, async_ops=True) as block:
        for tensor in tensors:
            dist.all_reduce(tensor)
    block.wait()
    for tensor in tensors:
        assert tensor.eq(size).all().item()


def barriers_and_objects(rank, size):
    dist.barrier()
    dist.barrier(device_ids=[0])
    gathered = [None] * size
    dist.all_gather_object(gathered, {"rank": rank})
    assert gathered == [{"rank": other} for other in range(size)]
    shared = ["from 0"] if rank == 0 else [None]
    dist.broadcast_object_list(shared, src=0, device=torch.device("cuda"))
    assert shared == ["from 0"]


def groups(rank, size):
    for backend in ("cpu:spark,cuda:nccl", "cuda:nccl,cpu:spark"):
        group = dist.new_group(backend=backend)
        for tensor in (_ones(), _ones(device="cpu")):
            dist.all_reduce(tensor, group=group)
            assert tensor.eq(size).all().item()
        dist.destroy_process_group(group)


def groups_that_are_split(rank, size):
    if dist.group.WORLD.bound_device_id is None or not hasattr(dist, "split_group"):
        return  # torch splits only groups that are bound to a device
    dist.all_reduce(_ones())
    group = dist.split_group(split_ranks=[list(range(size))])
    for tensor in (_ones(), _ones(device="cpu")):
        dist.all_reduce(tensor, group=group)
        assert tensor.eq(size).all().item()


def functional(rank, size):
    from torch.distributed import _functional_collectives

    for tensor in (_ones(), _ones(device="cpu")):
        total = _functional_collectives.all_reduce(tensor, "sum", dist.group.WORLD)
        assert (total + 0).eq(size).all().item()


def ddp_over_nccl(rank, size):
    before = dist.group.WORLD._get_sequence_number_for_group()
    model = DistributedDataParallel(gpu._model().to(DEVICE), device_ids=[0])
    gpu._are_those_of_one_process(gpu._losses(model, rank, size))
    assert dist.group.WORLD._get_sequence_number_for_group() == before


CASES = [
    each_device_has_its_backend,
    collectives,
    futures,
    messages,
    blocks,
    barriers_and_objects,
    groups,
    groups_that_are_split,
    functional,
    ddp_over_nccl,
]


def nccl_alone(rank, size):
    tensor = _ones() * (rank + 1)
    dist.all_reduce(tensor)
    same(tensor, _ones() * (size * (size + 1) / 2))
    dist.barrier()


ALONE = [nccl_alone]

"""Every operation of torch.distributed, compared with the result computed from all inputs."""

import traceback

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
NUMBERS = FLOATS + INTEGERS
COMPLEX = [torch.complex64, torch.complex128]
ALL = [*NUMBERS, *COMPLEX, torch.bool]
COUNT = 12


def values(rank, dtype, count=COUNT):
    """Return small numbers that differ by rank, whose sums are exact in every type."""
    numbers = (torch.arange(count) * 3 + rank * 2) % 5
    if dtype is torch.bool:
        return (numbers % 2).to(dtype)
    return numbers.to(dtype) + 1j * (numbers - 2) if dtype in COMPLEX else numbers.to(dtype)


def stacked(size, dtype, count=COUNT):
    return torch.stack([values(rank, dtype, count) for rank in range(size)])


def same(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=0, atol=0)


def reduced(size, dtype, op, count=COUNT):
    all_ = stacked(size, dtype, count)
    wide = all_.float() if dtype in (torch.float16, torch.bfloat16) else all_
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
        combine = {
            ReduceOp.BAND: torch.bitwise_and,
            ReduceOp.BOR: torch.bitwise_or,
            ReduceOp.BXOR: torch.bitwise_xor,
        }[op]
        result = wide[0]
        for row in wide[1:]:
            result = combine(result, row)
        return result
    if op == ReduceOp.SUM:
        return wide.sum(0, dtype=wide.dtype).to(dtype)
    if op == ReduceOp.AVG:
        return (wide.sum(0) / size).to(dtype)
    if op == ReduceOp.PRODUCT:
        return wide.prod(0, dtype=wide.dtype).to(dtype)
    return (wide.amin(0) if op == ReduceOp.MIN else wide.amax(0)).to(dtype)


def _reductions(dtype):
    if dtype is torch.bool:
        return [ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR]
    if dtype in COMPLEX:
        return [ReduceOp.SUM, ReduceOp.AVG]
    common = [ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX]
    bitwise = [ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR]
    return [*common, ReduceOp.AVG] if dtype in FLOATS else [*common, *bitwise]


def all_reduce(rank, size):
    for dtype in ALL:
        for op in _reductions(dtype):
            tensor = values(rank, dtype)
            dist.all_reduce(tensor, op=op)
            same(tensor, reduced(size, dtype, op))


def all_reduce_premultiplied(rank, size):
    from torch._C._distributed_c10d import _make_nccl_premul_sum

    tensor = values(rank, torch.float32)
    dist.all_reduce(tensor, op=_make_nccl_premul_sum(0.5))
    same(tensor, stacked(size, torch.float32).sum(0) * 0.5)


def all_reduce_of_strided_tensors(rank, size):
    square = values(rank, torch.float32, 16).reshape(4, 4)
    transposed = square.t()
    dist.all_reduce(transposed)
    same(square, reduced(size, torch.float32, ReduceOp.SUM, 16).reshape(4, 4))
    every_other = values(rank, torch.float64, 16)
    dist.all_reduce(every_other[::2])
    expected = values(rank, torch.float64, 16)
    expected[::2] = reduced(size, torch.float64, ReduceOp.SUM, 16)[::2]
    same(every_other, expected)


def all_reduce_of_nothing_and_of_scalars(rank, size):
    nothing = torch.empty(0)
    dist.all_reduce(nothing)
    assert nothing.shape == (0,)
    scalar = torch.tensor(float(rank))
    dist.all_reduce(scalar)
    assert scalar.item() == size * (size - 1) / 2


def all_reduce_of_parameters(rank, size):
    parameter = torch.nn.Parameter(values(rank, torch.float32))
    dist.all_reduce(parameter.data)
    same(parameter.data, reduced(size, torch.float32, ReduceOp.SUM))
    assert parameter.requires_grad


def all_reduce_of_sparse_tensors(rank, size):
    indices = torch.tensor([[0, rank, rank + 1], [1, 0, 1]])
    elements = torch.tensor([1.0, 2.0, 3.0])
    shape = (size + 1, 2)
    tensor = torch.sparse_coo_tensor(indices, elements, shape)
    dist.all_reduce(tensor)
    expected = torch.zeros(shape)
    for other in range(size):
        expected[0, 1] += 1
        expected[other, 0] += 2
        expected[other + 1, 1] += 3
    same(tensor.to_dense(), expected)


def all_reduce_in_shared_memory(rank, size):
    from spark_collectives.torch import empty

    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        tensor = empty((3, 4), dtype)
        assert tensor.dtype is dtype
        tensor.copy_(values(rank, dtype).reshape(3, 4))
        dist.all_reduce(tensor)
        same(tensor, reduced(size, dtype, ReduceOp.SUM).reshape(3, 4))


def asynchronous_works(rank, size):
    tensors = [values(rank, torch.float32, 1000 + i) for i in range(8)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    futures = [work.get_future() for work in works[::2]]
    for work in works:
        assert work.wait()
        assert work.is_completed()
        assert work.is_success()
        assert work.exception() is None
    for future, tensor in zip(futures, tensors[::2]):
        assert future.wait()[0] is tensor or torch.equal(future.value()[0], tensor)
    for i, tensor in enumerate(tensors):
        same(tensor, reduced(size, torch.float32, ReduceOp.SUM, 1000 + i))


def broadcast(rank, size):
    for dtype in ALL:
        for root in range(size):
            tensor = values(rank, dtype)
            dist.broadcast(tensor, root)
            same(tensor, values(root, dtype))


def reduce(rank, size):
    for dtype in NUMBERS:
        tensor = values(rank, dtype)
        dist.reduce(tensor, size - 1)
        expected = reduced(size, dtype, ReduceOp.SUM) if rank == size - 1 else values(rank, dtype)
        same(tensor, expected)


def all_gather(rank, size):
    for dtype in ALL:
        outputs = [torch.empty(COUNT, dtype=dtype) for _ in range(size)]
        dist.all_gather(outputs, values(rank, dtype))
        same(torch.stack(outputs), stacked(size, dtype))


def all_gather_into_tensor(rank, size):
    for dtype in ALL:
        output = torch.empty(size * COUNT, dtype=dtype)
        dist.all_gather_into_tensor(output, values(rank, dtype))
        same(output, stacked(size, dtype).flatten())


def gather(rank, size):
    for dtype in ALL:
        outputs = [torch.empty(COUNT, dtype=dtype) for _ in range(size)] if rank == 0 else None
        dist.gather(values(rank, dtype), outputs, dst=0)
        if rank == 0:
            same(torch.stack(outputs), stacked(size, dtype))


def scatter(rank, size):
    for dtype in ALL:
        output = torch.empty(COUNT, dtype=dtype)
        root = size - 1
        inputs = list(stacked(size, dtype)) if rank == root else None
        dist.scatter(output, inputs, src=root)
        same(output, values(rank, dtype))


def reduce_scatter(rank, size):
    for dtype in NUMBERS:
        output = torch.empty(COUNT, dtype=dtype)
        dist.reduce_scatter(output, [values(rank + i, dtype) for i in range(size)])
        expected = sum(values(other + rank, torch.int64) for other in range(size)).to(dtype)
        same(output, expected)


def reduce_scatter_tensor(rank, size):
    for dtype in NUMBERS:
        output = torch.empty(COUNT, dtype=dtype)
        dist.reduce_scatter_tensor(output, values(rank, dtype, COUNT * size))
        expected = reduced(size, dtype, ReduceOp.SUM, COUNT * size)
        same(output, expected[rank * COUNT : (rank + 1) * COUNT])


def all_to_all_single(rank, size):
    for dtype in ALL:
        output = torch.empty(size * 2, dtype=dtype)
        dist.all_to_all_single(output, values(rank, dtype, size * 2))
        expected = [
            values(other, dtype, size * 2)[rank * 2 : rank * 2 + 2] for other in range(size)
        ]
        same(output, torch.cat(expected))


def all_to_all_single_of_uneven_parts(rank, size):
    # Rank i sends j + 1 rows of two elements to rank j.
    sent = [other + 1 for other in range(size)]
    received = [rank + 1] * size
    tensor = values(rank, torch.float32, 2 * sum(sent)).reshape(-1, 2)
    output = torch.empty(sum(received), 2)
    dist.all_to_all_single(output, tensor, received, sent)
    begin = sum(sent[:rank])
    expected = [
        values(other, torch.float32, 2 * sum(sent)).reshape(-1, 2)[begin : begin + rank + 1]
        for other in range(size)
    ]
    same(output, torch.cat(expected))


def all_to_all(rank, size):
    outputs = [torch.empty(other + 1) for other in range(size)]
    inputs = [torch.full((rank + 1,), float(other)) for other in range(size)]
    dist.all_to_all(outputs, inputs)
    for other, output in enumerate(outputs):
        same(output, torch.full((other + 1,), float(rank)))


def messages(rank, size):
    if size == 1:
        return  # torch lets no rank send to itself
    following, previous = (rank + 1) % size, (rank - 1) % size
    for dtype in ALL:
        tensor = torch.empty(COUNT, dtype=dtype)
        sending = dist.isend(values(rank, dtype), following, tag=3)
        receiving = dist.irecv(tensor, previous, tag=3)
        receiving.wait()
        sending.wait()
        same(tensor, values(previous, dtype))


def messages_by_tag(rank, size):
    if size == 1 or rank > 1:
        return
    if rank == 0:
        for work in [dist.isend(torch.tensor([10 * tag]), 1, tag=tag) for tag in (1, 2)]:
            work.wait()
        return
    for tag in (2, 1):
        tensor = torch.empty(1, dtype=torch.int64)
        dist.recv(tensor, 0, tag=tag)
        assert tensor.item() == 10 * tag


def strided_tensors(rank, size):
    square = values(rank, torch.float32, 16).reshape(4, 4)
    dist.broadcast(square[:, 1], 0)
    expected = values(rank, torch.float32, 16).reshape(4, 4)
    expected[:, 1] = values(0, torch.float32, 16).reshape(4, 4)[:, 1]
    same(square, expected)
    outputs = [torch.zeros(4, 8)[:, ::2] for _ in range(size)]
    dist.all_gather(outputs, values(rank, torch.bfloat16, 16).reshape(4, 4).t().float())
    for other, output in enumerate(outputs):
        same(output, values(other, torch.float32, 16).reshape(4, 4).t())
    if size == 1:
        return
    column = torch.zeros(4, 3)
    works = [
        dist.isend(values(rank, torch.float32, 16).reshape(4, 4).diagonal(), (rank + 1) % size),
        dist.irecv(column[:, 2], (rank - 1) % size),
    ]
    for work in works:
        work.wait()
    same(column[:, 2], values((rank - 1) % size, torch.float32, 16).reshape(4, 4).diagonal())
    assert not column[:, :2].any()


def meshes_of_devices(rank, size):
    from torch.distributed.device_mesh import init_device_mesh

    if size < 4:
        return
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
    for name, expected in (("shard", 4 * (rank // 2) + 1), ("replicate", 2 * (rank % 2) + 2)):
        tensor = torch.tensor([float(rank)])
        dist.all_reduce(tensor, group=mesh.get_group(name))
        assert tensor.item() == expected


def messages_of_whoever_sends(rank, size):
    if rank:
        dist.send(torch.tensor([rank]), 0)
        return
    seen = set()
    for _ in range(size - 1):
        tensor = torch.empty(1, dtype=torch.int64)
        source = dist.recv(tensor)
        assert source == tensor.item()
        seen.add(source)
    assert seen == set(range(1, size))


def batched_messages(rank, size):
    if size == 1:
        return  # torch lets no rank send to itself
    following, previous = (rank + 1) % size, (rank - 1) % size
    tensor = torch.empty(COUNT)
    operations = [
        dist.P2POp(dist.isend, values(rank, torch.float32), following),
        dist.P2POp(dist.irecv, tensor, previous),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    same(tensor, values(previous, torch.float32))


def objects(rank, size):
    gathered = [None] * size
    dist.all_gather_object(gathered, {"rank": rank, "name": "r" * (rank + 1)})
    assert gathered == [{"rank": r, "name": "r" * (r + 1)} for r in range(size)]
    at_root = [None] * size if rank == 0 else None
    dist.gather_object(rank * 10, at_root, dst=0)
    assert rank or at_root == [r * 10 for r in range(size)]
    shared = [("from", size - 1)] if rank == size - 1 else [None]
    dist.broadcast_object_list(shared, src=size - 1)
    assert shared == [("from", size - 1)]
    mine = [None]
    dist.scatter_object_list(mine, [f"for {r}" for r in range(size)] if rank == 0 else None, src=0)
    assert mine == [f"for {rank}"]


def barriers(rank, size):
    from datetime import timedelta

    dist.barrier()
    dist.barrier(async_op=True).wait()
    # Other versions of torch allow this only for gloo.
    dist.group.WORLD.monitored_barrier(timedelta(seconds=30))


def groups_of_some_ranks(rank, size):
    pairs = [dist.new_group([2 * i, 2 * i + 1]) for i in range(size // 2)]
    if size > 1:
        mine = pairs[rank // 2]
        assert dist.get_rank(mine) == rank % 2
        assert dist.get_process_group_ranks(mine) == [rank // 2 * 2, rank // 2 * 2 + 1]
        tensor = torch.tensor([float(rank)])
        dist.all_reduce(tensor, group=mine)
        assert tensor.item() == 4 * (rank // 2) + 1
        first = torch.tensor([rank])
        dist.broadcast(first, rank // 2 * 2, group=mine)
        assert first.item() == rank // 2 * 2
        dist.destroy_process_group(mine)
    again = dist.new_group()
    tensor = torch.ones(1)
    dist.all_reduce(tensor, group=again)
    assert tensor.item() == size


def groups_that_are_split(rank, size):
    if not hasattr(dist, "split_group") or not dist.group.WORLD.supports_splitting:
        return
    halves = [list(range(size))[i::2] for i in range(min(2, size))]
    mine = dist.split_group(split_ranks=halves)
    tensor = torch.tensor([rank])
    dist.all_reduce(tensor, group=mine)
    assert tensor.item() == sum(halves[rank % 2])


def coalesced_operations(rank, size):
    from torch.distributed.distributed_c10d import _coalescing_manager

    tensors = [values(rank, torch.float32, 4 + i) for i in range(3)]
    with _coalescing_manager(async_ops=True) as manager:
        for tensor in tensors:
            dist.all_reduce(tensor)
    manager.wait()
    for i, tensor in enumerate(tensors):
        same(tensor, reduced(size, torch.float32, ReduceOp.SUM, 4 + i))
    outputs = [torch.empty(size * (4 + i)) for i in range(3)]
    with _coalescing_manager():
        for i, output in enumerate(outputs):
            dist.all_gather_into_tensor(output, values(rank, torch.float32, 4 + i))
    for i, output in enumerate(outputs):
        same(output, stacked(size, torch.float32, 4 + i).flatten())
    if size == 1:
        return
    tensor = torch.empty(COUNT)
    with _coalescing_manager(device=torch.device("cpu"), async_ops=True) as manager:
        dist.isend(values(rank, torch.float32), (rank + 1) % size)
        dist.irecv(tensor, (rank - 1) % size)
    manager.wait()
    same(tensor, values((rank - 1) % size, torch.float32))


def functional_collectives(rank, size):
    from torch.distributed import _functional_collectives as functional

    total = functional.all_reduce(values(rank, torch.float32), "sum", dist.group.WORLD)
    same(total + 0, reduced(size, torch.float32, ReduceOp.SUM))
    gathered = functional.all_gather_tensor(values(rank, torch.float32), 0, dist.group.WORLD)
    same(gathered + 0, stacked(size, torch.float32).flatten())


CASES = [
    all_reduce,
    all_reduce_premultiplied,
    all_reduce_of_strided_tensors,
    strided_tensors,
    all_reduce_of_nothing_and_of_scalars,
    all_reduce_of_parameters,
    all_reduce_of_sparse_tensors,
    all_reduce_in_shared_memory,
    asynchronous_works,
    broadcast,
    reduce,
    all_gather,
    all_gather_into_tensor,
    gather,
    scatter,
    reduce_scatter,
    reduce_scatter_tensor,
    all_to_all_single,
    all_to_all_single_of_uneven_parts,
    all_to_all,
    messages,
    messages_by_tag,
    messages_of_whoever_sends,
    batched_messages,
    objects,
    barriers,
    groups_of_some_ranks,
    groups_that_are_split,
    meshes_of_devices,
    coalesced_operations,
    functional_collectives,
]


def run_all(rank, size):
    """Run all cases; return the failures by name."""
    import spark_collectives

    outcomes = {}
    for case in CASES:
        try:
            case(rank, size)
        except spark_collectives.CollectiveError as e:
            # The group has ended, so no further case can run.
            raise RuntimeError(f"{case.__name__} has ended the group: {e}") from e
        except Exception:
            outcomes[case.__name__] = traceback.format_exc()
        # A receive from any rank must not get messages of the next case.
        dist.barrier()
    return outcomes

"""Reductions, compared with the result computed from all inputs."""

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

from torch_values import (
    ALL,
    COUNT,
    NUMBERS,
    reduced,
    reductions,
    same,
    stacked,
    values,
)


def all_reduce(rank, size):
    for dtype in ALL:
        for op in reductions(dtype):
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
        same(tensor, reduced(size, dtype, ReduceOp.SUM).reshape(3, 4).cpu())


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


def dropped_works(rank, size):
    ends = (
        dist.barrier,
        lambda: dist.all_reduce(torch.ones(3)),
        lambda: dist.all_reduce(torch.ones(3), async_op=True).wait(),
        lambda: dist.all_reduce(torch.ones(3), async_op=True).synchronize(),
    )
    # The last is reduced in parts.
    for count in (10, 70_000, 3_000_000):
        expected = reduced(size, torch.float32, ReduceOp.SUM, count)
        for end in ends:
            tensor = values(rank, torch.float32, count)
            dist.all_reduce(tensor, async_op=True)
            end()
            same(tensor, expected)


def dropped_works_with_futures(rank, size):
    # The thread of the futures copies the result, and that takes a while.
    group = dist.group.WORLD
    for end in (dist.barrier, lambda: dist.all_reduce(torch.ones(3)), group.monitored_barrier):
        for count in (1_900_000, 8_000_000):
            tensor = torch.full((count,), rank + 1.0)
            future = dist.all_reduce(tensor, async_op=True).get_future()
            end()
            assert (tensor == size * (size + 1) / 2).all()
            future.wait()


def callbacks_that_wait(rank, size):
    """Wait in the callback of a future for another operation, as PowerSGD's hook does."""

    def again(future):
        tensor = future.value()[0]
        return dist.all_reduce(tensor, async_op=True).get_future().wait()[0]

    first = dist.all_reduce(torch.ones(70_000), async_op=True).get_future()
    total = first.then(again).then(lambda future: future.value() + 1).wait()
    same(total, torch.full((70_000,), size * size + 1.0))


def tensors_that_get_other_memory(rank, size):
    """Give a tensor other memory while its operation goes on: its old memory gets the result."""
    parameter = torch.nn.Parameter(torch.ones(16 << 20, device="cpu"))
    dist.all_reduce(parameter.detach(), async_op=True)
    alias = parameter.data[:3]
    parameter.data = torch.zeros(3, device="cpu")
    dist.barrier()
    same(parameter.detach(), torch.zeros(3, device="cpu"))
    same(alias, torch.full((3,), float(size), device="cpu"))

    tensor = torch.ones(100_000, device="cpu")
    work = dist.all_reduce(tensor, async_op=True)
    tensor.untyped_storage().resize_(0)
    try:
        work.wait()
    except RuntimeError as e:
        assert "was resized while" in str(e), e
    else:
        raise AssertionError("a result was copied to memory that is gone")


def reduce(rank, size):
    for dtype in NUMBERS:
        tensor = values(rank, dtype)
        dist.reduce(tensor, size - 1)
        expected = reduced(size, dtype, ReduceOp.SUM) if rank == size - 1 else values(rank, dtype)
        same(tensor, expected)


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

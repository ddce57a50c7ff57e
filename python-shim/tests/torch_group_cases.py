"""Objects, barriers, groups of some ranks, and operations in blocks."""

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

from torch_values import (
    COUNT,
    reduced,
    same,
    stacked,
    values,
)


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
    try:
        mine = dist.split_group(split_ranks=halves)
    except RuntimeError as e:
        # Older versions of torch split only groups that are bound to a device.
        assert "No device associated with the default pg" in str(e)
        return
    tensor = torch.tensor([rank])
    dist.all_reduce(tensor, group=mine)
    assert tensor.item() == sum(halves[rank % 2])


def a_group_that_is_shrunk(rank, size):
    if size < 2 or not hasattr(dist, "shrink_group"):
        return
    pair = dist.new_group()
    if rank == size - 1:
        # A rank that is left out ends, and so does what it has.
        return
    assert pair.supports_shrinking
    pair = dist.shrink_group([size - 1], group=pair)
    assert (dist.get_rank(pair), dist.get_world_size(pair)) == (rank, size - 1)
    tensor = torch.ones(1)
    dist.all_reduce(tensor, group=pair)
    assert tensor.item() == size - 1
    dist.destroy_process_group(pair)


def meshes_of_devices(rank, size):
    from torch.distributed.device_mesh import init_device_mesh

    if size < 4:
        return
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
    for name, expected in (("shard", 4 * (rank // 2) + 1), ("replicate", 2 * (rank % 2) + 2)):
        tensor = torch.tensor([float(rank)])
        dist.all_reduce(tensor, group=mesh.get_group(name))
        assert tensor.item() == expected


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

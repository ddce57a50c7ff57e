"""Messages between two ranks."""

import torch
import torch.distributed as dist

from torch_values import (
    ALL,
    COUNT,
    same,
    values,
)


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

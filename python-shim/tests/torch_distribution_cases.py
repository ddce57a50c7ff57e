"""Collectives that move tensors, compared with the inputs of all ranks."""

import torch
import torch.distributed as dist

from torch_values import (
    ALL,
    COUNT,
    same,
    stacked,
    values,
)


def broadcast(rank, size):
    for dtype in ALL:
        for root in range(size):
            tensor = values(rank, dtype)
            dist.broadcast(tensor, root)
            same(tensor, values(root, dtype))


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

"""Tensors that differ by rank, and what operations make of them."""

import torch
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


def reductions(dtype):
    if dtype is torch.bool:
        return [ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR]
    if dtype in COMPLEX:
        return [ReduceOp.SUM, ReduceOp.AVG]
    common = [ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX]
    bitwise = [ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR]
    return [*common, ReduceOp.AVG] if dtype in FLOATS else [*common, *bitwise]

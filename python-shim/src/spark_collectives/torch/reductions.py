"""The conversion of torch's reductions."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Optional, Sequence

import torch
from torch.distributed import ReduceOp as TorchReduceOp

from ..reduce_op import ReduceOp

_BY_NAME: Dict[str, ReduceOp] = {
    name: getattr(ReduceOp, name)
    for name in ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")
}


def reduction(op: Any) -> ReduceOp:
    """Return our reduction for torch's, which is an object or the constant in it."""
    constant = getattr(op, "op", op)
    if constant == TorchReduceOp.PREMUL_SUM:
        # Only newer versions have an attribute for the factor; all have it in the pickled state.
        return ReduceOp.premul_sum(float(op.__getstate__()[1]))
    found: Optional[ReduceOp] = _BY_NAME.get(constant.name)
    if found is None:
        raise ValueError(f"The backend 'spark' has no reduction {constant.name}")
    return found


def combined(op: ReduceOp, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the reduction of tensors of one process, each of which is reduced over all ranks."""
    combine: Dict[ReduceOp, Callable[..., torch.Tensor]] = {
        ReduceOp.PRODUCT: torch.mul,
        ReduceOp.MIN: torch.minimum,
        ReduceOp.MAX: torch.maximum,
        ReduceOp.BAND: torch.bitwise_and,
        ReduceOp.BOR: torch.bitwise_or,
        ReduceOp.BXOR: torch.bitwise_xor,
    }
    each = [tensor.detach() for tensor in tensors]
    total = functools.reduce(combine.get(op, torch.add), each)
    return total / len(each) if op == ReduceOp.AVG else total

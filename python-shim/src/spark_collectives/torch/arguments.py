"""The arguments of torch's calls."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed import ReduceOp as TorchReduceOp


def only(values: Any) -> Any:
    """Return the one element of a list: torch's lists are for processes with several devices."""
    if isinstance(values, torch.Tensor):
        return values
    if len(values) != 1:
        raise ValueError(
            f"One tensor is needed, or one list of tensors, and there are {len(values)}"
        )
    return values[0]


def reduce_op(opts: Any) -> Any:
    """Return torch's reduction: ``opts``, an attribute of it, or by default the sum."""
    if opts is None:
        return TorchReduceOp.SUM
    return getattr(opts, "reduceOp", opts)

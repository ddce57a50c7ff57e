"""torch's reductions as ours."""

from __future__ import annotations

from typing import Any, Dict, Optional

from torch.distributed import ReduceOp as TorchReduceOp

from ..reduce_op import ReduceOp

_BY_NAME: Dict[str, ReduceOp] = {
    name: getattr(ReduceOp, name)
    for name in ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")
}


def reduction(op: Any) -> ReduceOp:
    """Give our reduction for torch's, which is an object, or the constant in it."""
    constant = getattr(op, "op", op)
    if constant == TorchReduceOp.PREMUL_SUM:
        # The attribute is there in newer versions only, the state of the pickle in all.
        return ReduceOp.premul_sum(float(op.__getstate__()[1]))
    found: Optional[ReduceOp] = _BY_NAME.get(constant.name)
    if found is None:
        raise ValueError(f"The backend 'spark' has no reduction {constant.name}")
    return found

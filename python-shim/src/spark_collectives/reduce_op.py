"""The reductions of elements over ranks."""

from __future__ import annotations

from typing import ClassVar

from . import _names

_NAMES = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")


class ReduceOp:
    """A reduction: one of the constants, or :meth:`premul_sum`.

    The constants are ``SUM``, ``AVG``, ``PRODUCT``, ``MIN``, ``MAX``, ``BAND``, ``BOR`` and
    ``BXOR``. ``AVG`` and ``premul_sum`` are for floating-point and complex types, the bitwise
    reductions for integers and booleans, the others for all types, but ``PRODUCT``, ``MIN`` and
    ``MAX`` not for complex ones. float8 types cannot be reduced; ``uint16``, ``uint32`` and
    ``uint64`` have no ``MIN`` and ``MAX``. Integers wrap around. Half types accumulate in float32
    and round once.
    """

    SUM: ClassVar[ReduceOp]
    AVG: ClassVar[ReduceOp]
    PRODUCT: ClassVar[ReduceOp]
    MIN: ClassVar[ReduceOp]
    MAX: ClassVar[ReduceOp]
    BAND: ClassVar[ReduceOp]
    BOR: ClassVar[ReduceOp]
    BXOR: ClassVar[ReduceOp]

    __slots__ = ("code", "factor", "name")

    def __init__(self, name: str, code: int, factor: float = 1.0) -> None:
        self.name = name
        self.code = code
        self.factor = factor

    @staticmethod
    def premul_sum(factor: float) -> ReduceOp:
        """Return a sum that first multiplies each rank's elements by that rank's ``factor``."""
        return ReduceOp("PREMUL_SUM", 8, float(factor))

    def __repr__(self) -> str:
        return f"ReduceOp.{self.name}" + (f"({self.factor})" if self.code == 8 else "")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ReduceOp) and self.code == other.code and self.factor == other.factor
        )

    def __hash__(self) -> int:
        return hash((self.code, self.factor))


def require(op: object) -> None:
    """Refuse what is no reduction, such as the name of one.

    :raises TypeError: with the nearest reduction
    """
    if not isinstance(op, ReduceOp):
        raise TypeError(
            f"The reduction must be a ReduceOp, such as ReduceOp.SUM, and is {op!r}"
            + _names.question(str(op).rpartition(".")[2], _NAMES)
        )


for _code, _name in enumerate(_NAMES):
    setattr(ReduceOp, _name, ReduceOp(_name, _code))

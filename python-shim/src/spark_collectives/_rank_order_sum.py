"""The sum of arrays of all ranks, of the same bits wherever the ranks are."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from .objects import all_gather_object
from .process_group import ProcessGroup

#: The bytes of all ranks that rank 0 adds up faster than ranks can divide the work.
_LARGEST_ALONE_BYTES = 256 << 10


def agreed_shape(group: ProcessGroup, own: Optional[Tuple[int, ...]]) -> Tuple[int, ...]:
    """Return the one shape of all ranks' contributions; raise on all ranks if they differ.

    :param own: this rank's; None if it has no rows
    """
    shapes: List[Any] = [None] * group.size
    all_gather_object(shapes, own, group)
    ranks = {shape: [r for r, each in enumerate(shapes) if each == shape] for shape in shapes}
    ranks.pop(None, None)
    if not ranks:
        raise ValueError(
            f"None of the {group.size} partitions has a row, so there is nothing to iterate on"
        )
    if len(ranks) > 1:
        which = ", ".join(
            f"{shape} on rank{'s' if len(those) > 1 else ''} {', '.join(map(str, those[:10]))}"
            + (f" and {len(those) - 10} others" if len(those) > 10 else "")
            for shape, those in ranks.items()
        )
        raise ValueError(
            f"The contributions differ in shape, and cannot be added up: {which}. All ranks must "
            "return arrays of one shape, whatever rows they have"
        )
    return tuple(next(iter(ranks)))


class RankOrderSum:
    """Adds up arrays of all ranks at rank 0, each element in the order of the ranks.

    A reduce of the group adds up in an order that depends on where the ranks are. Here ranks that
    are placed elsewhere, as after the loss of an executor, get the same bits.
    """

    def __init__(self, group: ProcessGroup, shape: Tuple[int, ...]) -> None:
        self.shape = shape
        self._group = group
        count = int(np.prod(shape, dtype=np.int64))
        self._alone = count * 8 * group.size <= _LARGEST_ALONE_BYTES
        self._bounds = [count * rank // group.size for rank in range(group.size + 1)]
        rank = group.rank
        part = count if self._alone else self._bounds[rank + 1] - self._bounds[rank]
        senders = 0 if self._alone and rank > 0 else group.size
        self._received = [group.empty(part, np.float64) for _ in range(senders)]

    def __call__(self, own: Any) -> Any:
        """Return the sum at rank 0, in a new array; elsewhere None."""
        group = self._group
        given = own.reshape(-1)
        if self._alone:
            group.gather(self._received, given, 0)
            return self._added().reshape(self.shape) if group.rank == 0 else None
        group.all_to_all(self._received, self._parts(given))
        total = np.empty(given.size) if group.rank == 0 else None
        group.gather([] if total is None else self._parts(total), self._added(), 0)
        return None if total is None else total.reshape(self.shape)

    def _parts(self, array: Any) -> List[Any]:
        return [array[begin:end] for begin, end in zip(self._bounds, self._bounds[1:])]

    def _added(self) -> Any:
        total = self._received[0].copy()
        for each in self._received[1:]:
            total += each
        return total

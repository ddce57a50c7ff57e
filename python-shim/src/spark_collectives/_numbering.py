"""The global ranks of a task's groups."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple


class Numbering:
    """The numbers of the ranks in the default group, and in the world group of the JVM.

    They are the same until the default group is shrunk.
    """

    def __init__(self) -> None:
        self._originals: Optional[Sequence[int]] = None

    def shrunk_to(self, originals: Sequence[int]) -> None:
        """Number the ranks from 0, in this order, from now on."""
        self._originals = originals

    def to_global(self, originals: Sequence[int]) -> Tuple[int, ...]:
        """Return the global ranks of ranks of the JVM's world group."""
        if self._originals is None:
            return tuple(originals)
        numbers = {original: rank for rank, original in enumerate(self._originals)}
        return tuple(numbers[each] for each in originals)

    def to_original(self, ranks: Sequence[int]) -> List[int]:
        """Return the ranks in the JVM's world group of global ranks.

        :raises ValueError: if there is no such rank
        """
        if self._originals is None:
            return [int(each) for each in ranks]
        for rank in ranks:
            if not 0 <= rank < len(self._originals):
                raise ValueError(f"There is no rank {rank} among the {len(self._originals)}")
        return [self._originals[each] for each in ranks]

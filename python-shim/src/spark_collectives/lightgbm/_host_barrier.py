"""Where the processes of a host wait for each other, in memory that all of them have mapped."""

from __future__ import annotations

import ctypes
import time
from typing import Protocol, Sequence

from .. import _semaphores

#: How long a wait sleeps before it looks whether the group has failed.
_SLICE_SECONDS = 0.05

#: How long a rank that has left may take to fail, which tells more than that it has left.
_LEFT_SECONDS = 5.0

_LINE = _semaphores.BYTES


class Life(Protocol):
    """The life of the group whose ranks wait for each other."""

    def timeout(self) -> float:
        """Return how long a rank may wait for the others, in seconds."""

    def check(self) -> None:
        """Raise if the group has failed."""

    def give_up(self, waited: float, missing: Sequence[int], left: Sequence[int]) -> Exception:
        """End the group on all ranks, and return what this rank raises.

        :param missing: the ranks that have not come
        :param left: those of them that will not come
        """


def bytes_for(size: int) -> int:
    """Return how many bytes the barrier of so many ranks takes in the memory of each."""
    return _LINE * (size + 1)


class HostBarrier:
    """One rank's view of the barrier of all. Not thread-safe.

    The memory of each rank begins with a line for each rank: a semaphore, which that rank posts
    when it has come. In the next line the rank says that it has left.

    :param addresses: where the memory of each rank begins in this process, by rank
    """

    def __init__(self, rank: int, addresses: Sequence[int], life: Life) -> None:
        self._life = life
        others = [other for other in range(len(addresses)) if other != rank]
        self._theirs = [addresses[other] + _LINE * rank for other in others]
        self._own = [(other, addresses[rank] + _LINE * other) for other in others]
        at = _LINE * len(addresses)
        self._left = [ctypes.c_uint32.from_address(each + at) for each in addresses]
        self._rank = rank
        self._sleeper = _semaphores.Sleeper()
        #: When this rank began to wait for the others, if it has slept once for nothing.
        self._since = 0.0

    def prepare(self) -> None:
        """Make this rank's memory ready; no rank may wait before all have done this."""
        for _, address in self._own:
            _semaphores.initialize(address)
        self._left[self._rank].value = 0

    def wait(self) -> None:
        """Wait until all ranks have come as often as this one.

        What a rank has written before it came is visible then to all.

        :raises Exception: if the group fails, or a rank does not come in time
        """
        self._life.check()
        for address in self._theirs:
            _semaphores.post(address)
        for other, address in self._own:
            # No spinning: what a rank waits for is most often still computed, by a rank that may
            # need this processor. It was slower even where each rank could have a processor.
            if not (_semaphores.take(address) or self._sleeper.wait(address, _SLICE_SECONDS)):
                self._await(other, address)
        self._since = 0.0

    def _await(self, other: int, address: int) -> None:
        # This rank has slept already.
        self._since = self._since or time.monotonic() - _SLICE_SECONDS
        limit = self._life.timeout()
        while True:
            self._life.check()
            waited = time.monotonic() - self._since
            if self._left[other].value:
                limit = min(limit, waited + _LEFT_SECONDS)
            if waited > limit:
                # The group ends: nobody needs what is taken here.
                missing = [
                    each for each, at in self._own if each >= other and not _semaphores.take(at)
                ]
                left = [each for each in missing if self._left[each].value]
                raise self._life.give_up(waited, missing, left)
            if self._sleeper.wait(address, _SLICE_SECONDS):
                return

    def leave(self) -> None:
        """Say that this rank does not come any more."""
        self._left[self._rank].value = 1

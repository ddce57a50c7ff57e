"""Where the processes of a host wait for each other, in memory that all of them have mapped."""

from __future__ import annotations

import ctypes
import os
import time
from typing import Protocol, Sequence

from .. import _semaphores

#: How often a rank asks whether the group has failed, whether it waits or not.
_CHECK_SECONDS = 0.05

#: How long a rank that has left may take to fail, which tells more than that it has left.
_LEFT_SECONDS = 5.0

#: How often a wait looks before it sleeps; each time takes about half a microsecond.
_LOOKS = 60

_LINE = _semaphores.BYTES


class Life(Protocol):
    """The life of the group whose ranks meet."""

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
    """Return how many bytes the meeting of so many ranks takes in the memory of each."""
    return _LINE * (size + 1)


class Meeting:
    """One rank's view of the meeting of all. Not thread-safe.

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
        self._check_at = 0.0
        # A rank that looks must not keep the one that it waits for from the processor.
        self._looks = _LOOKS if len(os.sched_getaffinity(0)) >= len(addresses) else 1

    def prepare(self) -> None:
        """Make this rank's memory ready; no rank may meet before all have done this."""
        for _, address in self._own:
            _semaphores.initialize(address)
        self._left[self._rank].value = 0

    def meet(self) -> None:
        """Wait until all ranks have come as often as this one.

        What a rank has written before it came is visible then to all.

        :raises Exception: if the group fails, or a rank does not come in time
        """
        if time.monotonic() > self._check_at:
            self._check()
        for address in self._theirs:
            _semaphores.post(address)
        take = _semaphores.take
        began = 0.0
        for other, address in self._own:
            for _ in range(self._looks):
                if take(address):
                    break
            else:
                began = began or time.monotonic()
                self._sleep(other, address, began)

    def _check(self) -> None:
        self._check_at = time.monotonic() + _CHECK_SECONDS
        self._life.check()

    def _sleep(self, other: int, address: int, began: float) -> None:
        limit = 0.0
        while not _semaphores.wait(address, _CHECK_SECONDS):
            self._check()
            waited = time.monotonic() - began
            limit = limit or self._life.timeout()
            if self._left[other].value:
                limit = min(limit, waited + _LEFT_SECONDS)
            if waited > limit:
                # The group ends: nobody needs what is taken here.
                missing = [
                    each for each, at in self._own if each >= other and not _semaphores.take(at)
                ]
                left = [each for each in missing if self._left[each].value]
                raise self._life.give_up(waited, missing, left)

    def leave(self) -> None:
        """Say that this rank does not come any more."""
        self._left[self._rank].value = 1

"""The works of a group whose end nobody has seen yet."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from typing import Dict, List, Optional

from .work import Work

#: The number of collectives, or messages, at which the ended ones are settled for the first time.
_MANY = 16


class PendingWorks:
    """The works of a group whose end nobody has seen yet, oldest first. Thread-safe.

    The group holds them, so that a result reaches its arrays whether or not the caller keeps the
    work. Collectives end in their order: when one has ended, so have those before it, and asking
    for their ends takes a request each, as a wait would.

    A thread that has a work's lock settles only works that began before it, so that threads never
    wait for each other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = 0
        #: The collectives and the messages, by their numbers.
        self._collectives: Dict[int, Work] = {}
        self._messages: Dict[int, Work] = {}
        #: The numbers of collectives and of messages at which those that have ended are settled.
        self._many_collectives = self._many_messages = _MANY

    def __bool__(self) -> bool:
        return bool(self._collectives or self._messages)

    def __len__(self) -> int:
        return len(self._collectives) + len(self._messages)

    def add(self, work: Work, message: bool) -> None:
        """Hold a work that has begun, and give it its number."""
        with self._lock:
            self._begun += 1
            work.number, work.message = self._begun, message
            if not message:
                work.settle_earlier = functools.partial(self.settle_collectives, self._begun)
            (self._messages if message else self._collectives)[self._begun] = work

    def settle_many(self) -> None:
        """Settle the works that have ended if there are twice as many as the last time.

        A program that never waits would keep all of them, each with its memory.
        """
        if len(self._messages) >= self._many_messages:
            settle(self._older(self._messages, None))
            self._many_messages = max(_MANY, 2 * len(self._messages))
        if len(self._collectives) >= self._many_collectives:
            settle(self._older(self._collectives, None), in_order=True)
            self._many_collectives = max(_MANY, 2 * len(self._collectives))

    def ended(self, work: Work) -> None:
        """Let a work go whose end was seen, and settle the collectives before it, if it is one."""
        with self._lock:
            self._messages.pop(work.number, None)
            if self._collectives.pop(work.number, None) is None:
                return
        self.settle_collectives(work.number)

    def settle_collectives(self, before: Optional[int] = None) -> None:
        """Ask for the ends of the collectives that began before a number; by default of all."""
        settle(self._older(self._collectives, before))

    def settle(self, before: Optional[int] = None) -> None:
        """Ask for the ends of the works that began before a number; by default of all."""
        settle(self._older(self._collectives, before) + self._older(self._messages, before))

    def wait(self) -> None:
        """Wait until all works are done, as long as each may take."""
        wait_for(self._older(self._collectives, None) + self._older(self._messages, None))

    def collectives(self) -> List[Work]:
        """Return the collectives that have begun."""
        return self._older(self._collectives, None)

    def messages(self) -> List[Work]:
        """Return the messages that have begun."""
        return self._older(self._messages, None)

    def _older(self, works: Dict[int, Work], before: Optional[int]) -> List[Work]:
        with self._lock:
            return [work for number, work in works.items() if before is None or number < before]


def wait_for(works: List[Work], seconds: Optional[float] = None) -> bool:
    """Wait until the works are done, and return whether they are.

    :param seconds: how long all of them may take; by default each may take as long as it was given
    """
    end = None if seconds is None else time.monotonic() + seconds
    for work in works:
        work._wait_quietly(None if end is None else max(end - time.monotonic(), 0.001))
    return all(work._settled for work in works)


def settle(works: List[Work], in_order: bool = False) -> None:
    """Notice the ends of those works that have ended.

    :param in_order: whether they end one after the other, so that the first that has not ended is
        the last to be asked for
    """
    for work in works:
        # Its error, if it has one, is for whoever waits for it.
        with contextlib.suppress(Exception):
            work._settle()
        if in_order and not work._settled:
            return

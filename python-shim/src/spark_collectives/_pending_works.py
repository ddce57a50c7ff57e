"""The works of a group whose end nobody has seen yet."""

from __future__ import annotations

import threading
from typing import Dict, List, Optional

from .work import Work


class PendingWorks:
    """The works of a group whose end nobody has seen yet, oldest first. Thread-safe.

    The group holds them, so that a result reaches its arrays whether or not the caller keeps the
    work. Collectives end in their order: when one has ended, so have those before it, and asking
    for their ends takes a request each, as a wait would.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = 0
        self._numbers: Dict[Work, int] = {}
        #: The collectives and the messages, by their numbers.
        self._collectives: Dict[int, Work] = {}
        self._messages: Dict[int, Work] = {}

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, work: Work, message: bool) -> None:
        """Hold a work that has begun."""
        with self._lock:
            self._begun += 1
            self._numbers[work] = self._begun
            (self._messages if message else self._collectives)[self._begun] = work

    def ended(self, work: Work) -> None:
        """Let a work go whose end was seen, and settle the collectives before it, if it is one."""
        with self._lock:
            number = self._numbers.pop(work, 0)
            self._messages.pop(number, None)
            if self._collectives.pop(number, None) is None:
                return
        self.settle_collectives(number)

    def settle_collectives(self, before: Optional[int] = None) -> None:
        """Ask for the ends of the collectives that began before a number; by default of all."""
        _settle(self._older(self._collectives, before))

    def settle(self) -> None:
        """Ask for the ends of all works."""
        _settle(self._older(self._collectives, None) + self._older(self._messages, None))

    def _older(self, works: Dict[int, Work], before: Optional[int]) -> List[Work]:
        with self._lock:
            return [work for number, work in works.items() if before is None or number < before]


def _settle(works: List[Work]) -> None:
    for work in works:
        # Its error, if it has one, is for whoever waits for it.
        work.is_completed()

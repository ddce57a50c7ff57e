"""Blocks of operations that are awaited as one."""

from __future__ import annotations

import threading
from typing import List, Optional

from .work import Work


class Coalescing:
    """The operations that one thread begins in a block of a group."""

    def __init__(self) -> None:
        self.works: List[Work] = []
        self._thread = threading.get_ident()

    def is_callers(self) -> bool:
        """Return whether the block is one of the calling thread."""
        return self._thread == threading.get_ident()

    def add(self, work: Work) -> None:
        """Add an operation that has begun."""
        self.works.append(work)

    def append(self, work: Optional[Work] = None) -> None:
        """Add an operation that was begun outside of the block, if it is one."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Wait until all operations have ended; raise the error of the first that failed."""
        failure: Optional[Exception] = None
        for work in self.works:
            try:
                work.wait()
            except Exception as e:
                failure = failure or e
        if failure is not None:
            raise failure

"""Threads that wait for works, to complete their futures."""

from __future__ import annotations

import queue
import threading
from typing import Callable

_LINGER_SECONDS = 5.0


class Completions:
    """A thread that makes calls one after the other; each waits for a work.

    The thread starts with the first call, and ends some seconds after the last. Thread-safe.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._running = False

    def add(self, call: Callable[[], None]) -> None:
        """Make the call after those that were added before. It raises nothing."""
        with self._lock:
            self._waiting.put(call)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                call = self._waiting.get(timeout=_LINGER_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._waiting.empty():
                        self._running = False
                        return
                continue
            call()
            del call  # frees the work's arrays before the next one comes

"""Threads that wait for works, to complete their futures."""

from __future__ import annotations

import queue
import sys
import threading
from collections import deque
from typing import Callable, Deque, Tuple

_LINGER_SECONDS = 5.0

Call = Callable[[], None]


class Completions:
    """Waits for works, and completes their futures. Thread-safe.

    Threads start when they are needed, are used again, and end some seconds after their last work.

    :param in_order: whether the works end in the order in which they are added, as the collectives
        of a group do. Then one thread waits for them at a time; without, each has a thread
    """

    def __init__(self, name: str, in_order: bool = True) -> None:
        self._threads = _Threads(name)
        self._in_order = in_order
        self._lock = threading.Lock()
        self._added: Deque[Tuple[Call, Call]] = deque()
        #: Whether a thread waits for a work, or is about to.
        self._waiting = False

    def add(self, wait: Call, complete: Call) -> None:
        """Call ``wait``, which waits for a work, and then ``complete``.

        ``complete`` may run the user's callbacks, and these may wait for later works. So another
        thread waits for the next work while it runs.
        """
        if not self._in_order:
            self._threads.run(lambda: _both(wait, complete))
            return
        with self._lock:
            self._added.append((wait, complete))
            if self._waiting:
                return
            self._waiting = True
        self._threads.run(self._complete_next)

    def _complete_next(self) -> None:
        with self._lock:
            wait, complete = self._added.popleft()
        wait()
        with self._lock:
            self._waiting = bool(self._added)
            others = self._waiting
        if others:
            self._threads.run(self._complete_next)
        complete()


def _both(wait: Call, complete: Call) -> None:
    wait()
    complete()


class _Threads:
    """Threads that are used again. Each call has one for itself, as long as it runs."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._calls: queue.SimpleQueue[Call] = queue.SimpleQueue()
        #: The number of threads that wait for a call, without those that one in the queue is for.
        self._idle = 0

    def run(self, call: Call) -> None:
        with self._lock:
            if self._idle:
                self._idle -= 1
                self._calls.put(call)
                return
        threading.Thread(target=self._run, args=(call,), name=self._name, daemon=True).start()

    def _run(self, call: Call) -> None:
        while True:
            try:
                call()
            except BaseException:
                # Such as the SystemExit of a callback. Other calls need this thread.
                threading.excepthook(
                    threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread()))
                )
            del call  # frees the work's arrays before the next one comes
            with self._lock:
                self._idle += 1
            try:
                call = self._calls.get(timeout=_LINGER_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._calls.empty():
                        self._idle -= 1
                        return
                call = self._calls.get()

"""Threads that wait for works, to complete their futures."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import time
from collections import deque
from typing import Callable, Deque, List, Optional, Tuple

_LINGER_SECONDS = 5.0

#: How long a callback may take, at least, before the next one does not wait for its turn. It then
#: seems to wait for a later work; callbacks that are slow should keep their order.
_PATIENCE_SECONDS = 1.0

Call = Callable[[], None]

_STARTING = -1


class Completions:
    """Waits for works, and completes their futures. Thread-safe.

    Threads start when they are needed, are used again, and end some seconds after their last work.

    :param in_order: whether the works end in the order in which they are added, as the collectives
        of a group do. Then one thread, the leader, completes one after the other, so that their
        callbacks run in the same order on all ranks. Without, each work has a thread
    """

    def __init__(self, name: str, in_order: bool = True) -> None:
        self._threads = _Threads(name)
        self._in_order = in_order
        self._lock = threading.Lock()
        self._added: Deque[Tuple[Call, Call]] = deque()
        #: The thread that leads.
        self._leader: Optional[int] = None
        #: The number of the work that the leader completes just now; 0 if it waits for one.
        self._completing = 0
        self._taken = 0
        self._is_watched = False

    def add(self, wait: Call, complete: Call) -> None:
        """Call ``wait``, which waits for a work, and then ``complete``.

        ``complete`` may run the user's callbacks, and these may wait for later works. Another
        thread leads from then on: at once if a callback adds a work, for which it may wait, and
        after a while if a callback goes on while works have been added.

        :raises RuntimeError: if no thread can be started
        """
        if not self._in_order:
            self._threads.run(lambda: _both(wait, complete))
            return
        with self._lock:
            self._added.append((wait, complete))
            leader = self._leader
            if leader is not None and leader != threading.get_ident():
                return
            self._leader, self._completing = _STARTING, 0
        try:
            self._threads.run(self._lead)
        except RuntimeError:
            with self._lock:
                self._leader = leader
                self._added.pop()
            raise

    def _lead(self) -> None:
        own = threading.get_ident()
        with self._lock:
            self._leader = own
        while True:
            with self._lock:
                if self._leader != own:
                    return
                if not self._added:
                    self._leader = None
                    return
                wait, complete = self._added.popleft()
                self._taken += 1
                number = self._taken
            _guarded(wait)
            with self._lock:
                self._completing = number
                watched, self._is_watched = self._is_watched, True
            if not watched:
                self._start(self._watch)
            _guarded(complete)
            with self._lock:
                if self._leader == own:
                    self._completing = 0
            del wait, complete  # frees the work's arrays before the next one comes

    def _watch(self) -> None:
        """Let another thread lead while a callback takes long; end when there is nothing to do."""
        seen, quiet_since = 0, time.monotonic()
        while True:
            time.sleep(_PATIENCE_SECONDS)
            with self._lock:
                now = self._completing
                if self._leader is not None:
                    quiet_since = time.monotonic()
                elif time.monotonic() - quiet_since > _LINGER_SECONDS:
                    self._is_watched = False
                    return
                relieve = bool(now and now == seen and self._added and self._leader != _STARTING)
                seen = now
                if relieve:
                    self._leader, self._completing = _STARTING, 0
            if relieve and not self._start(self._lead):
                self._lead()

    def _start(self, call: Call) -> bool:
        """Run a call, if a thread can be started for it; return whether it can."""
        with contextlib.suppress(RuntimeError):
            self._threads.run(call)
            return True
        return False


def _both(wait: Call, complete: Call) -> None:
    _guarded(wait)
    _guarded(complete)


def _guarded(call: Call) -> None:
    try:
        call()
    except BaseException:
        # Such as the SystemExit of a callback. Other works need this thread.
        threading.excepthook(
            threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread()))
        )


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
        # In a list, because a thread holds its arguments as long as it lives.
        first = [call]
        threading.Thread(target=self._run, args=(first,), name=self._name, daemon=True).start()

    def _run(self, first: List[Call]) -> None:
        call = first.pop()
        while True:
            call()
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

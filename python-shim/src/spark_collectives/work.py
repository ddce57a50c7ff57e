"""Asynchronous operations."""

from __future__ import annotations

import logging
import struct
import threading
import time
from datetime import timedelta
from typing import Any, Callable, List, Optional, Protocol, Union

from . import _codes, _connection, errors
from ._completions import Completions
from ._frames import Request
from ._task import Task
from .futures import Future

_log = logging.getLogger(__name__)

#: A duration: a timedelta, or a number of seconds.
Seconds = Union[timedelta, float, int]


def millis(timeout: Optional[Seconds]) -> int:
    """Convert a duration to whole milliseconds, at least one; None becomes 0."""
    if timeout is None:
        return 0
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if not 0 < seconds <= 10_000 * 86_400:
        raise ValueError(
            f"A timeout must be more than zero and 10,000 days at the most, not {timeout}"
        )
    return max(1, round(seconds * 1000))


def _left(end: float) -> int:
    return max(1, round((end - time.monotonic()) * 1000))


def _nothing() -> None:
    pass


class Arrays(Protocol):
    """The staged arrays of an operation."""

    def finish(self) -> None:
        """Copy the results to the caller's arrays, and release the memory."""

    def release(self) -> None:
        """Release the memory."""


class Work:
    """An operation that was begun with ``async_op=True``.

    It ends whether or not somebody waits, so it may be dropped. Its arrays have their result once
    :meth:`wait` has returned or :meth:`is_completed` is True, or once a later collective of the
    group (for a message: a later barrier) has been waited for. Until then nobody else may use them.
    An error that nobody asks for is logged, unless the whole group has failed. Thread-safe.
    """

    def __init__(
        self,
        task: Task,
        ended: Callable[[Work], None],
        ids: List[int],
        arrays: Arrays,
        wait_ms: int,
        outputs: List[Any],
        completions: Completions,
    ) -> None:
        self._task = task
        self._outputs = outputs
        self._completions = completions
        self._future: Optional[Future] = None
        #: Is told when the operation is known to have ended.
        self._ended = ended
        #: What is to be done then besides.
        self._callbacks: List[Callable[[], None]] = []
        #: Its ids in the JVM, one for each part that is not done.
        self._ids = ids
        self._arrays: Optional[Arrays] = arrays
        self._wait_ms = wait_ms
        self._lock = threading.Lock()
        #: For what changes while another thread has the lock and waits.
        self._state_lock = threading.Lock()
        self._done = False
        #: Whether the callbacks have been called, too, and the works before it are settled.
        self._settled = False
        self._error: Optional[Exception] = None
        self._source = -1
        #: Whether somebody has its error.
        self._told = False
        #: Whether it is a message, and no collective.
        self.message = False
        #: Its place in the order in which the group's works have begun.
        self.number = 0
        #: Lets the works before it have their results, which must not come after its own.
        self.settle_earlier: Callable[[], None] = _nothing

    def wait(self, timeout: Optional[Seconds] = None) -> bool:
        """Wait until the operation is done, and return True.

        Raises the operation's error. Waits until its deadline; with ``timeout``, returns False if
        it is not done by then, and it goes on.
        """
        self._wait_quietly(timeout)
        done = self._settled
        if self._error is not None:
            self._told = True
            raise self._error
        return done

    def _wait_quietly(self, timeout: Optional[Seconds] = None) -> None:
        """Wait as :meth:`wait` does, and leave the error to those that ask for it."""
        if not self._settled:
            self._await(millis(timeout))

    def _await(self, wait_ms: int) -> None:
        end = time.monotonic() + wait_ms / 1000.0
        if not self._lock.acquire(timeout=wait_ms / 1000.0 if wait_ms else -1):
            return
        try:
            if not self._done:
                self._ask(_codes.AWAIT_WORK, _left(end) if wait_ms else 0)
        finally:
            self._lock.release()

    def is_completed(self) -> bool:
        """Return whether the operation is done, successfully or not."""
        if self._settled:
            return True
        # If another thread waits for the operation, that thread notices the end just as soon.
        if self._lock.acquire(blocking=False):
            try:
                if not self._done:
                    self._ask(_codes.TEST_WORK, 0)
            finally:
                self._lock.release()
        return self._settled

    def _settle(self) -> None:
        """Notice that the operation is done, if it is: its arrays then have their result.

        Unlike :meth:`is_completed` it waits for a thread that makes the last copies just now, also
        those of :meth:`_when_known`.
        """
        if self._settled:
            return
        if not self._lock.acquire(blocking=False):
            # The last part ends last. Another thread that has learned its end has removed it.
            last = self._ids[-1:]
            if last and not self._has_ended(last[0]):
                return
            self._lock.acquire()
        try:
            if not self._done:
                self._ask(_codes.TEST_WORK, 0)
        finally:
            self._lock.release()

    def _has_ended(self, id_: int) -> bool:
        """Ask whether a part has ended, and leave its end to be learned by another thread."""
        reply = self._task.connection().call(
            Request(_codes.TEST_WORK, flags=_codes.CHOICE, body=struct.pack("<Q", id_)),
            self._wait_ms / 1000.0 + _connection.MARGIN_SECONDS,
        )
        return reply.status != _codes.PENDING

    def is_success(self) -> bool:
        """Return whether the operation is done and did not fail."""
        return self.is_completed() and self._error is None

    @property
    def _succeeded(self) -> bool:
        """Whether the operation is known to have succeeded. Asks nobody, and so takes no lock."""
        return self._done and self._error is None

    def exception(self) -> Optional[Exception]:
        """Return the error of the operation; None if it has none, or is not done."""
        self.is_completed()
        self._told = self._told or self._error is not None
        return self._error

    def _leave_error(self) -> None:
        """Say that somebody has the error of the whole, so that this one is not logged."""
        self._told = True

    def source_rank(self) -> int:
        """Return the rank in the group that sent a received message; -1 for other operations."""
        return self._source

    def result(self) -> List[Any]:
        """Return the arrays that the operation writes; they have their result once it is done."""
        return list(self._outputs)

    def get_future(self) -> Future:
        """Return a future of the arrays that the operation writes.

        A thread of the group completes it, and runs callbacks in the order in which the futures
        were asked for. A callback may wait for a later operation, whose callbacks then run on
        another thread. If the operation fails, the future has its error.
        """
        with self._state_lock:
            if self._future is None:
                self._future = Future()
                try:
                    self._completions.add(self._wait_quietly, self._complete)
                except RuntimeError:
                    self._future = None
                    raise
            return self._future

    def _complete(self) -> None:
        future = self._future
        assert future is not None
        if self._error is not None:
            self._told = True
            future.set_exception(self._error)
        else:
            future.set_result(self.result())

    def _ask(self, code: int, wait_ms: int) -> None:
        arrays = self._arrays
        assert arrays is not None
        end = time.monotonic() + wait_ms / 1000.0
        try:
            while self._ids:
                left_ms = _left(end) if wait_ms else 0
                reply = self._task.connection().call(
                    Request(code, timeout_ms=left_ms, body=struct.pack("<Q", self._ids[0])),
                    (wait_ms or self._wait_ms) / 1000.0 + _connection.MARGIN_SECONDS,
                )
                if reply.status == _codes.PENDING:
                    return
                self._source = reply.next_int()
                self._ids.pop(0)
            self.settle_earlier()
            arrays.finish()
        except Exception as e:
            # Its frames would keep this work, and be kept by it.
            self._error = e.with_traceback(None)
        self._arrays = None
        with self._state_lock:
            self._done = True
            callbacks, self._callbacks = self._callbacks, []
        try:
            for call in callbacks:
                call()
            self._ended(self)
        finally:
            self._settled = True

    def __del__(self) -> None:
        """Log an error of which nobody would hear."""
        if self._error is None or self._told:
            return
        # The error of a group that has failed is raised by all of its later operations.
        goes_on = self.message and isinstance(self._error, errors.CollectiveMismatchError)
        if goes_on or not isinstance(self._error, errors.CollectiveError):
            _log.warning("An operation that nobody has waited for has failed: %s", self._error)

    def _when_known(self, call: Callable[[], None]) -> None:
        """Make a call, which raises nothing, once the operation is known to have ended.

        The thread that has noticed the end makes it, and has the work's lock meanwhile. The
        callback must not wait for a work that began later, or it deadlocks.
        """
        with self._state_lock:
            if not self._done:
                self._callbacks.append(call)
                return
        call()

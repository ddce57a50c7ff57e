"""Reports of ranks to the driver's Python process: printed lines, progress and exceptions.

A rank sends a report to its executor's JVM, which passes it to the driver's JVM as a message of the
plugin. That is Spark's own RPC, with Spark's authentication and encryption. The driver's Python
process polls its JVM for reports.
"""

from __future__ import annotations

import collections
import contextlib
import io
import os
import queue
import struct
import threading
from typing import Any, Callable, Generic, Iterator, NamedTuple, Optional, TypeVar

from . import _codes, _streams, _task, errors
from ._connection import Connection
from ._frames import Request
from ._jvm_connections import own_connections

LINE = 0
ERROR_LINE = 1
PROGRESS = 2
EXCEPTION = 3
ENDED = 4

#: Reports that the driver acknowledges; it then has all earlier ones too, and the rank may end.
_AWAITED = (EXCEPTION, ENDED)

#: Not a report: closes the reporter.
_CLOSE = -1

_HEAD = struct.Struct("<Ii")
_MAX_BYTES = 16 << 20
_TAKE_MS = 200
_END_SECONDS = 5.0


class Report(NamedTuple):
    """One message of a rank."""

    rank: int
    kind: int
    content: bytes


def unpack(taken: bytes) -> Iterator[Report]:
    """Yield the reports that the driver's JVM has packed together."""
    at = 0
    while at < len(taken):
        length, rank = _HEAD.unpack_from(taken, at)
        at += _HEAD.size
        yield Report(rank, taken[at], taken[at + 1 : at + length])
        at += length


class ReportReader:
    """The driver's side: polls its JVM for the reports of ranks, and puts them into ``reports``."""

    def __init__(self, context: Any) -> None:
        self.reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._gateway = context._gateway
        self._received = context._jvm.org.sparkcollectives.spark.internal.python.RankReports.open()
        #: The id with which ranks report here.
        self.id: str = self._received.id()
        # In a thread of its own: an interrupt in the middle of a call to the JVM would break it.
        self._thread = threading.Thread(target=self._read, name="collectives-reports", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(Exception), own_connections(self._gateway):  # The JVM has ended.
            while True:
                taken = self._received.take(_TAKE_MS)
                if taken is None:
                    return
                for report in unpack(bytes(taken)):
                    self.reports.put(report)

    def close(self) -> int:
        """Stop receiving; return the number of reports that were dropped because too many came."""
        with contextlib.suppress(Exception):
            self._received.close()
            self._thread.join(_END_SECONDS)
            return int(self._received.dropped())
        return 0


_Item = TypeVar("_Item")


class _SerialQueue(Generic[_Item]):
    """Passes items to a function, one at a time and in order. Thread-safe.

    A finalizer or a signal handler may add an item while its thread is inside that function. The
    item is then passed next: to wait for the function would be to wait for itself. A forked process
    begins with an empty queue: a thread that it has not may have the lock of its parent's.
    """

    def __init__(self, take: Callable[[_Item], None]) -> None:
        self._take = take
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._items: collections.deque[_Item] = collections.deque()
        self._lock = threading.RLock()
        self._taking: Optional[int] = None

    def put(self, item: _Item) -> None:
        """Add an item; return when it and all earlier ones have been passed on."""
        if self._process != os.getpid():
            self._begin()
        self._items.append(item)
        while self._taking != threading.get_ident():
            with self._lock:
                self._taking = threading.get_ident()
                try:
                    while self._items:
                        self._take(self._items.popleft())
                finally:
                    self._taking = None
            if not self._items:
                return


class Reporter:
    """A rank's side. Where the driver cannot be reached, reports are dropped without an error."""

    def __init__(self, run: Optional[str]) -> None:
        self._run = None if run is None else bytes.fromhex(run)
        self._queue: _SerialQueue[tuple[int, bytes]] = _SerialQueue(self._send)
        self._process = os.getpid()
        self._connection: Optional[Connection] = None

    def send(self, kind: int, content: bytes) -> None:
        """Send one report."""
        if self._run is None:
            return
        if self._process != os.getpid():
            # A forked process must not use its parent's connection.
            self._process, self._connection = os.getpid(), None
        self._queue.put((kind, content))

    def _send(self, report: tuple[int, bytes]) -> None:
        kind, content = report
        if self._run is None:
            return
        if kind == _CLOSE:
            self._run = None
            if self._connection is not None:
                self._connection.close("The function has ended")
            return
        try:
            if self._connection is None:
                self._connection = _task.further_connection()
            self._connection.call(
                Request(
                    _codes.REPORT,
                    flags=_codes.CHOICE if kind in _AWAITED else 0,
                    body=self._run + bytes((kind,)) + content[:_MAX_BYTES],
                )
            )
        except (errors.CollectiveError, RuntimeError, ValueError):
            self._run = None

    def close(self) -> None:
        """Stop sending."""
        self._queue.put((_CLOSE, b""))


class LineWriter(io.TextIOBase):
    """Reports whole lines to the driver, and writes to the rank's previous output.

    :param before: the previous output, or None
    :param echo: whether it is written to
    """

    def __init__(self, reporter: Reporter, kind: int, before: Any, echo: bool = True) -> None:
        self._reporter = reporter
        self._kind = kind
        self._before = before
        self._echo = before if echo else None
        self._queue: _SerialQueue[Optional[str]] = _SerialQueue(self._take)
        self._rest = ""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the previous output."""
        return getattr(self._before, "encoding", None) or "utf-8"

    def fileno(self) -> int:
        """Return the previous output's descriptor; text written to it is not reported."""
        if not hasattr(self._before, "fileno"):
            raise io.UnsupportedOperation("fileno")
        return int(self._before.fileno())

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Write the text, and report the lines that it completes."""
        _streams.write(self._echo, text)
        self._queue.put(text)
        return len(text)

    def _take(self, text: Optional[str]) -> None:
        if text is None:
            rest, self._rest = self._rest, ""
            lines = [rest] if rest else []
        else:
            *lines, rest = (self._rest + text).split("\n")
            self._rest = _as_displayed(rest)
        for line in lines:
            seen = _as_displayed(line.rstrip("\r"))
            self._reporter.send(self._kind, seen.encode("utf-8", "replace"))

    def flush(self) -> None:
        """Flush the previous output."""
        _streams.flush(self._echo)

    def end(self) -> None:
        """Report the last line, which has no line end."""
        self._queue.put(None)


def _as_displayed(line: str) -> str:
    """Return the line as a terminal shows it: a carriage return overwrites what is before it."""
    return line[line.rfind("\r", 0, -1) + 1 :]

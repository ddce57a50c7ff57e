"""What ranks tell the driver's Python process while they run: lines, progress, and how they fail.

A rank gives its executor's JVM a report, which passes it on to the driver's JVM as a message of the
plugin. That is Spark's own RPC, with Spark's authentication and encryption. The driver's Python
process takes it from there.
"""

from __future__ import annotations

import collections
import contextlib
import io
import os
import queue
import struct
import threading
from typing import Any, Callable, Generic, Iterator, NamedTuple, Optional, TextIO, TypeVar

from . import _codes, _task, errors
from ._connection import Connection

LINE = 0
ERROR_LINE = 1
PROGRESS = 2
EXCEPTION = 3
ENDED = 4

#: Reports after which the rank may end: they, and all before them, are with the driver then.
_AWAITED = (EXCEPTION, ENDED)

#: No report: the last that a rank does.
_CLOSE = -1

_HEAD = struct.Struct("<Ii")
_MOST_BYTES = 16 << 20
_TAKE_MS = 200
_END_SECONDS = 5.0


class Report(NamedTuple):
    """One message of a rank."""

    rank: int
    kind: int
    content: bytes


def unpack(taken: bytes) -> Iterator[Report]:
    """Give the reports that the driver's JVM has packed together."""
    at = 0
    while at < len(taken):
        length, rank = _HEAD.unpack_from(taken, at)
        at += _HEAD.size
        yield Report(rank, taken[at], taken[at + 1 : at + length])
        at += length


class ReportReader:
    """The driver's side: takes what ranks report from its JVM, and puts it into ``reports``."""

    def __init__(self, jvm: Any) -> None:
        self.reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._received = jvm.org.sparkcollectives.spark.python.RankReports.open()
        #: What ranks need in order to report here.
        self.id: str = self._received.id()
        # A thread of its own, because an interrupt in the middle of a call to the JVM breaks it.
        self._thread = threading.Thread(target=self._read, name="collectives-reports", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(Exception):  # The JVM has ended.
            while True:
                taken = self._received.take(_TAKE_MS)
                if taken is None:
                    return
                for report in unpack(bytes(taken)):
                    self.reports.put(report)

    def close(self) -> int:
        """Receive no more; give how many reports were left out because too many came at once."""
        with contextlib.suppress(Exception):
            self._received.close()
            self._thread.join(_END_SECONDS)
            return int(self._received.dropped())
        return 0


_Item = TypeVar("_Item")


class _Turns(Generic[_Item]):
    """Gives items to a function, one at a time.

    A finalizer or a signal handler may print while its thread is within that function. What it
    prints then comes next; to wait for its turn would be to wait for itself.
    """

    def __init__(self, take: Callable[[_Item], None]) -> None:
        self._take = take
        self._items: collections.deque[_Item] = collections.deque()
        self._lock = threading.RLock()
        self._taking: Optional[int] = None

    def give(self, item: _Item) -> None:
        """Wait for those who came before; return when this item and theirs were taken."""
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
    """A rank's side. Reports are lost, and nothing else, where the driver cannot be reached."""

    def __init__(self, run: Optional[str]) -> None:
        self._run = None if run is None else bytes.fromhex(run)
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._turns: _Turns[tuple[int, bytes]] = _Turns(self._send)
        self._connection: Optional[Connection] = None

    def send(self, kind: int, content: bytes) -> None:
        """Send one report."""
        if self._run is None:
            return
        if self._process != os.getpid():
            # A fork has copies of its parent's lock and connection, and may use neither.
            self._begin()
        self._turns.give((kind, content))

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
                _codes.REPORT,
                flags=_codes.CHOICE if kind in _AWAITED else 0,
                body=self._run + bytes((kind,)) + content[:_MOST_BYTES],
            )
        except (errors.CollectiveError, RuntimeError, ValueError):
            self._run = None

    def close(self) -> None:
        """Send no more."""
        self._turns.give((_CLOSE, b""))


class LineWriter(io.TextIOBase):
    """Writes where the rank's output went before, and whole lines to the driver, too."""

    def __init__(self, reporter: Reporter, kind: int, before: TextIO) -> None:
        self._reporter = reporter
        self._kind = kind
        self._before = before
        self._turns: _Turns[Optional[str]] = _Turns(self._take)
        self._rest = ""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the output before."""
        return getattr(self._before, "encoding", None) or "utf-8"

    def fileno(self) -> int:
        """Give the descriptor of the output before: what is written there stays with the rank."""
        return self._before.fileno()

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Write it, and report the lines that are whole."""
        self._before.write(text)
        self._turns.give(text)
        return len(text)

    def _take(self, text: Optional[str]) -> None:
        if text is None:
            rest, self._rest = self._rest, ""
            lines = [rest] if rest else []
        else:
            *lines, rest = (self._rest + text).split("\n")
            self._rest = _last_writing(rest)
        for line in lines:
            seen = _last_writing(line.rstrip("\r"))
            self._reporter.send(self._kind, seen.encode("utf-8", "replace"))

    def flush(self) -> None:
        """Flush the output before."""
        self._before.flush()

    def end(self) -> None:
        """Report a line that was not ended."""
        self._turns.give(None)


def _last_writing(line: str) -> str:
    """Leave out what a terminal would write over: progress bars go back to the line's beginning."""
    return line[line.rfind("\r", 0, -1) + 1 :]

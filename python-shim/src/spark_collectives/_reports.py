"""What ranks tell the driver's Python process while they run: lines, progress, and how they fail.

One TCP connection for each rank, from the rank to the driver. The driver sends 32 random bytes; the
rank answers with their HMAC-SHA256 under the run's secret and its number, and then sends messages:
kind (1 byte), length (4 bytes, little-endian), content.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import os
import queue
import socket
import struct
import threading
import time
from typing import Any, List, NamedTuple, Optional, TextIO, Tuple

LINE = 0
ERROR_LINE = 1
PROGRESS = 2
EXCEPTION = 3
ENDED = 4

_NONCE_BYTES = 32
_PROOF_BYTES = 32
_HEAD = struct.Struct("<BI")
_MOST_BYTES = 16 << 20
_CONNECT_SECONDS = 5.0
_END_SECONDS = 2.0


class Report(NamedTuple):
    """One message of a rank."""

    rank: int
    kind: int
    content: bytes


class Destination(NamedTuple):
    """Where ranks report to."""

    host: str
    port: int
    secret: bytes


def _read(connection: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        part = connection.recv(min(1 << 16, count - len(content)))
        if not part:
            raise EOFError
        content += part
    return content


class ReportServer:
    """The driver's side: listens, and puts what ranks report into ``reports``."""

    def __init__(self, bind: str, host: str) -> None:
        self.reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._secret = os.urandom(32)
        self._socket = socket.create_server((bind, 0), backlog=128)
        self.destination = Destination(host, self._socket.getsockname()[1], self._secret)
        self._threads: List[threading.Thread] = []
        threading.Thread(target=self._accept, name="collectives-reports", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # Closed.
            thread = threading.Thread(
                target=self._serve, args=(connection,), name="collectives-report", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, EOFError):
            connection.settimeout(_CONNECT_SECONDS)
            nonce = os.urandom(_NONCE_BYTES)
            connection.sendall(nonce)
            answer = _read(connection, _PROOF_BYTES + 4)
            proof = hmac.new(self._secret, nonce + answer[_PROOF_BYTES:], "sha256").digest()
            if not hmac.compare_digest(answer[:_PROOF_BYTES], proof):
                return
            (rank,) = struct.unpack("<i", answer[_PROOF_BYTES:])
            connection.settimeout(None)
            try:
                while True:
                    kind, length = _HEAD.unpack(_read(connection, _HEAD.size))
                    if length > _MOST_BYTES:
                        return
                    self.reports.put(Report(rank, kind, _read(connection, length)))
            finally:
                self.reports.put(Report(rank, ENDED, b""))

    def close(self) -> None:
        """Listen no more, and give what is still on its way a moment to arrive."""
        # Wakes the thread that accepts, which a mere close does not.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        end = time.monotonic() + _END_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))


class Reporter:
    """A rank's side. Reports are lost, and nothing else, where the driver cannot be reached."""

    def __init__(self, destination: Optional[Destination], rank: int) -> None:
        self._lock = threading.Lock()
        self._socket: Optional[socket.socket] = None
        if destination is None:
            return
        with contextlib.suppress(OSError, EOFError):
            connection = socket.create_connection(destination[:2], timeout=_CONNECT_SECONDS)
            number = struct.pack("<i", rank)
            nonce = _read(connection, _NONCE_BYTES)
            connection.sendall(
                hmac.new(destination.secret, nonce + number, "sha256").digest() + number
            )
            self._socket = connection

    def send(self, kind: int, content: bytes) -> None:
        """Send one report."""
        content = content[:_MOST_BYTES]
        with self._lock:
            if self._socket is None:
                return
            try:
                self._socket.sendall(_HEAD.pack(kind, len(content)) + content)
            except OSError:
                self._socket.close()
                self._socket = None

    def close(self) -> None:
        """Send no more."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None


class LineWriter(io.TextIOBase):
    """Writes where the rank's output went before, and whole lines to the driver, too."""

    def __init__(self, reporter: Reporter, kind: int, before: TextIO) -> None:
        self._reporter = reporter
        self._kind = kind
        self._before = before
        self._lock = threading.Lock()
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
        with self._lock:
            *lines, rest = (self._rest + text).split("\n")
            self._rest = _last_writing(rest)
        for line in lines:
            self._report(line)
        return len(text)

    def flush(self) -> None:
        """Flush the output before."""
        self._before.flush()

    def end(self) -> None:
        """Report a line that was not ended."""
        with self._lock:
            rest, self._rest = self._rest, ""
        if rest:
            self._report(rest)

    def _report(self, line: str) -> None:
        seen = _last_writing(line.rstrip("\r"))
        self._reporter.send(self._kind, seen.encode("utf-8", "replace"))


def _last_writing(line: str) -> str:
    """Leave out what a terminal would write over: progress bars go back to the line's beginning."""
    return line[line.rfind("\r", 0, -1) + 1 :]


def split_address(conf: Any) -> Tuple[str, str]:
    """Give the addresses at which a driver listens, and at which executors reach it."""
    host = conf.get("spark.driver.host", "127.0.0.1")
    return conf.get("spark.driver.bindAddress", host), host

"""The connection between a thread of this process and the JVM of its executor."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from typing import Optional

from . import _codes, _frames, _handshake, errors

_KEPT_BYTES = 16 * 1024
_SHORT_BYTES = 512

#: The interval at which a wait for the JVM checks its deadline.
_POLL_SECONDS = 1

#: The time after the JVM's own deadline after which this side concludes that the JVM hangs.
MARGIN_SECONDS = 30.0


def connect(
    host: str, port: int, secret: bytes, attempt: int, purpose: int = _codes.CALLS
) -> Connection:
    """Open an authenticated connection to the JVM of the executor."""
    connected = _handshake.connect(host, port, secret, attempt, purpose)
    # The socket blocks, so that a call takes two system calls. The kernel wakes it regularly.
    connected.settimeout(None)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connected.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", _POLL_SECONDS, 0))
    return Connection(connected)


class Connection:
    """An authenticated connection. Used by one thread."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._broken: Optional[str] = None
        #: The bytes that have arrived, and their number.
        self._buffer = bytearray(_KEPT_BYTES)
        self._have = 0

    @property
    def is_broken(self) -> bool:
        """Whether no more calls can be made, because one was interrupted or has failed."""
        return self._broken is not None

    def call(self, request: _frames.Request, patience: float = MARGIN_SECONDS) -> _frames.Reply:
        """Send a request, and wait for its reply.

        :param patience: the seconds after which a JVM that has not replied is said to hang
        """
        self.post(request)
        return self.take(patience)

    def post(self, request: _frames.Request) -> None:
        """Send a request. The JVM serves the requests of a connection in order."""
        self.send(request.encode())

    def send(self, frame: bytes) -> None:
        """Send an encoded request, as :meth:`post` does."""
        if self._broken is not None:
            raise errors.BridgeError(self._broken)
        try:
            self._send(frame)
        except errors.BridgeError:
            raise
        except OSError as e:
            raise self._break(f"The connection to the executor's JVM broke: {e}") from e
        except BaseException:
            self._break("A call of this thread was interrupted")
            raise

    def _send(self, frame: bytes) -> None:
        sent = 0
        stuck = 0.0
        while sent < len(frame):
            try:
                sent += self._socket.send(memoryview(frame)[sent:] if sent else frame)
                stuck = 0.0
            except BlockingIOError:
                now = time.monotonic()
                stuck = stuck or now
                if now - stuck > MARGIN_SECONDS:
                    raise self._break(
                        f"The executor's JVM has read nothing for {MARGIN_SECONDS:.0f} s; it hangs"
                    ) from None

    def take(self, patience: float) -> _frames.Reply:
        """Wait for the next reply, and raise if it is an error. Replies come in request order."""
        reply = self.skip(patience)
        if reply.status == _codes.FAILED:
            raise reply.error()
        return reply

    def skip(self, patience: float) -> _frames.Reply:
        """Wait for the next reply, and return it even if it is an error."""
        if self._broken is not None:
            raise errors.BridgeError(self._broken)
        try:
            return self._receive(patience)
        except errors.BridgeError:
            raise
        except OSError as e:
            raise self._break(f"The connection to the executor's JVM broke: {e}") from e
        except BaseException:
            # The reply may still come, and must not be taken for the reply to a later request.
            self._break("A call of this thread was interrupted")
            raise

    def _receive(self, patience: float) -> _frames.Reply:
        if self._have == 0:
            # Nearly every reply is short, and comes alone and as a whole.
            whole = self._receive_short()
            if whole is not None:
                return whole
        self._fill(4, patience)
        length = 4 + int.from_bytes(self._buffer[:4], "little")
        if length > len(self._buffer):
            self._buffer.extend(bytes(length - len(self._buffer)))
        self._fill(length, patience)
        reply = _frames.Reply(self._buffer[4], bytes(self._buffer[5:length]))
        # The bytes of the replies behind this one.
        rest = self._have - length
        self._buffer[:rest] = self._buffer[length : self._have]
        self._have = rest
        if rest <= _KEPT_BYTES < len(self._buffer):
            del self._buffer[_KEPT_BYTES:]
        return reply

    def _receive_short(self) -> Optional[_frames.Reply]:
        """Receive once; return the reply if exactly one has come, else keep what has come."""
        try:
            arrived = self._socket.recv(_SHORT_BYTES)
        except BlockingIOError:
            return None
        count = len(arrived)
        if count == 0:
            raise self._ended()
        if count > 4 and count == 4 + int.from_bytes(arrived[:4], "little"):
            return _frames.Reply(arrived[4], arrived[5:])
        self._buffer[:count] = arrived
        self._have = count
        return None

    def _fill(self, need: int, patience: float) -> None:
        """Receive until the buffer, which is large enough, has ``need`` bytes."""
        start = 0.0
        while self._have < need:
            try:
                with memoryview(self._buffer) as view:
                    count = self._socket.recv_into(view[self._have :])
            except BlockingIOError:
                now = time.monotonic()
                start = start or now
                if now - start > patience:
                    raise self._break(
                        f"The executor's JVM has not replied for {patience:.0f} s; it hangs"
                    ) from None
                continue
            if count == 0:
                raise self._ended()
            self._have += count

    def _ended(self) -> errors.BridgeError:
        return self._break(
            "The executor's JVM closed the connection: it has ended, or the task has"
        )

    def _break(self, why: str) -> errors.BridgeError:
        self._broken = why
        self._socket.close()
        return errors.BridgeError(why)

    def await_end(self) -> None:
        """Wait on a liveness connection until the JVM or this process closes it."""
        while self._broken is None:
            try:
                if not self._socket.recv(1):
                    return
            except BlockingIOError:
                continue
            except OSError:
                return

    def leave(self) -> None:
        """Tell the JVM, on a liveness connection, that this process has left its groups."""
        # A JVM that has ended needs no message.
        with contextlib.suppress(OSError):
            self._socket.sendall(bytes((_codes.GOODBYE,)))

    def __del__(self) -> None:
        # Its thread has ended.
        self._socket.close()

    def close(self, why: str) -> None:
        """Close the connection; further calls raise an error with the reason."""
        self._broken = self._broken or why
        self._socket.close()

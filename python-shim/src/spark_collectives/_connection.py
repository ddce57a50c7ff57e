"""The connection between a thread of this process and the JVM of its executor."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import random
import socket
import struct
import time
from typing import Optional, Sequence

from . import _codes, _frames, errors

_MAGIC = 0x53435059
_VERSION = 2
_NONCE_BYTES = 16
_PROOF_BYTES = 32
_HELLO = struct.Struct("<IHBxqi16s")
_CHALLENGE = struct.Struct("<IHBx16s")

_KEPT_BYTES = 16 * 1024

#: How often a wait for the JVM looks whether it has taken too long.
_LOOK_SECONDS = 1

#: How much later than the JVM this side gives up.
MARGIN_SECONDS = 30.0


_HANDSHAKE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.02
_LAST_PAUSE_SECONDS = 1.0


class _BusyError(Exception):
    """The JVM cannot take the connection now: too many others have just connected."""


class Connection:
    """A connection that has proven itself. Used by one thread."""

    def __init__(
        self, host: str, port: int, secret: bytes, attempt: int, purpose: int = _codes.CALLS
    ) -> None:
        pause = _FIRST_PAUSE_SECONDS
        deadline = time.monotonic() + MARGIN_SECONDS
        while True:
            try:
                self._connect(host, port, secret, attempt, purpose)
                return
            except _BusyError as e:
                if time.monotonic() + pause > deadline:
                    raise errors.BridgeError(
                        f"The executor's JVM did not take a connection at {host}:{port} within "
                        f"{MARGIN_SECONDS:.0f} s: {e}"
                    ) from e
            # Not all at once: many processes may have been turned away together.
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, _LAST_PAUSE_SECONDS)

    def _connect(self, host: str, port: int, secret: bytes, attempt: int, purpose: int) -> None:
        try:
            connected = socket.create_connection((host, port), timeout=_HANDSHAKE_SECONDS)
        except socket.timeout as e:
            raise _BusyError(f"it does not answer: {e}") from e
        except OSError as e:
            raise errors.BridgeError(
                f"The executor's JVM does not answer at {host}:{port}: {e}. If the task has just "
                "ended, this is a thread that outlived it"
            ) from e
        self._start(connected)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._shake_hands(secret, attempt, purpose)
            # Blocking, so that a call is two system calls; the system wakes it now and then.
            self._socket.settimeout(None)
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                self._socket.setsockopt(
                    socket.SOL_SOCKET, option, struct.pack("ll", _LOOK_SECONDS, 0)
                )
        except BaseException:
            self._socket.close()
            raise

    def _start(self, connected: socket.socket) -> None:
        self._socket = connected
        self._broken: Optional[str] = None
        #: What has arrived, and how much of it.
        self._buffer = bytearray(_KEPT_BYTES)
        self._have = 0

    def _shake_hands(self, secret: bytes, attempt: int, purpose: int) -> None:
        nonce = os.urandom(_NONCE_BYTES)
        hello = _HELLO.pack(_MAGIC, _VERSION, purpose, attempt, os.getpid(), nonce)
        self._say(hello)
        magic, version, status, theirs = _CHALLENGE.unpack(self._read(_CHALLENGE.size))
        if magic != _MAGIC or version != _VERSION or status != 0:
            raise errors.BridgeError(
                f"The jar speaks version {version} of the bridge's protocol and this package "
                f"version {_VERSION}: install the package and the jar of the same release"
            )
        self._say(hmac.new(secret, b"client" + nonce + theirs + hello, "sha256").digest())
        answer = self._read(1 + _PROOF_BYTES)
        proof = hmac.new(secret, b"server" + nonce + theirs + hello, hashlib.sha256).digest()
        if answer[0] != 0 or not hmac.compare_digest(answer[1:], proof):
            raise errors.BridgeError(
                "The executor's JVM refused this process: its task has ended, or the port is in "
                "other hands"
            )

    def _say(self, content: bytes) -> None:
        try:
            self._socket.sendall(content)
        except OSError as e:
            raise _BusyError(f"it closed the connection: {e}") from e

    def _read(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            try:
                part = self._socket.recv(count - len(content))
            except OSError as e:
                raise _BusyError(f"it does not answer: {e}") from e
            if not part:
                raise _BusyError("it closed the connection before this process was known to it")
            content += part
        return content

    def call(
        self,
        code: int,
        *,
        flags: int = 0,
        reduction: int = 0,
        group: int = 0,
        peer: int = 0,
        tag: int = 0,
        timeout_ms: int = 0,
        factor: float = 1.0,
        outputs: Sequence[_frames.Place] = (),
        inputs: Sequence[_frames.Place] = (),
        body: bytes = b"",
        patience: float = MARGIN_SECONDS,
    ) -> _frames.Reply:
        """Have the JVM do something, and wait for its reply.

        ``patience``: how many seconds a JVM that hangs is waited for.
        """
        self.post(
            code,
            flags=flags,
            reduction=reduction,
            group=group,
            peer=peer,
            tag=tag,
            timeout_ms=timeout_ms,
            factor=factor,
            outputs=outputs,
            inputs=inputs,
            body=body,
        )
        return self.take(patience)

    def post(
        self,
        code: int,
        *,
        flags: int = 0,
        reduction: int = 0,
        group: int = 0,
        peer: int = 0,
        tag: int = 0,
        timeout_ms: int = 0,
        factor: float = 1.0,
        outputs: Sequence[_frames.Place] = (),
        inputs: Sequence[_frames.Place] = (),
        body: bytes = b"",
    ) -> None:
        """Have the JVM do something, after what it was asked for before."""
        if self._broken is not None:
            raise errors.BridgeError(self._broken)
        places = b""
        for place in outputs:
            places += _frames.pack_place(place)
        for place in inputs:
            places += _frames.pack_place(place)
        frame = (
            _frames.HEAD.pack(
                _frames.HEAD_BYTES + len(places) + len(body),
                code,
                flags,
                reduction,
                group,
                peer,
                tag,
                timeout_ms,
                factor,
                len(outputs),
                len(inputs),
            )
            + places
            + body
        )
        if len(frame) - 4 > _frames.MOST_FRAME_BYTES:
            raise ValueError(
                f"The request has {len(frame):,} bytes, and {_frames.MOST_FRAME_BYTES:,} are "
                "possible at the most: keep large values in tensors or files, not in the store"
            )
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
                        f"The executor's JVM has taken nothing for {MARGIN_SECONDS:.0f} s; it hangs"
                    ) from None

    def take(self, patience: float) -> _frames.Reply:
        """Wait for the next reply; replies come in the order of the posts."""
        reply = self.skip(patience)
        if reply.status == _codes.FAILED:
            raise reply.error()
        return reply

    def skip(self, patience: float) -> _frames.Reply:
        """Wait for the next reply, and take it as it is, though it be an error."""
        if self._broken is not None:
            raise errors.BridgeError(self._broken)
        try:
            return self._receive(patience)
        except errors.BridgeError:
            raise
        except OSError as e:
            raise self._break(f"The connection to the executor's JVM broke: {e}") from e
        except BaseException:
            # What was asked for may yet be answered: nobody must take that for another answer.
            self._break("A call of this thread was interrupted")
            raise

    def _receive(self, patience: float) -> _frames.Reply:
        self._fill(4, patience)
        length = 4 + int.from_bytes(self._buffer[:4], "little")
        if length > len(self._buffer):
            self._buffer.extend(bytes(length - len(self._buffer)))
        self._fill(length, patience)
        reply = _frames.Reply(self._buffer[4], bytes(self._buffer[5:length]))
        # What has come already of the replies behind it.
        rest = self._have - length
        self._buffer[:rest] = self._buffer[length : self._have]
        self._have = rest
        if rest <= _KEPT_BYTES < len(self._buffer):
            del self._buffer[_KEPT_BYTES:]
        return reply

    def _fill(self, need: int, patience: float) -> None:
        """Have at least ``need`` bytes in the buffer, which has room for them."""
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
                        f"The executor's JVM gave no answer for {patience:.0f} s; it hangs"
                    ) from None
                continue
            if count == 0:
                raise self._break(
                    "The executor's JVM closed the connection: it has ended, or the task has"
                )
            self._have += count

    def _break(self, why: str) -> errors.BridgeError:
        self._broken = why
        self._socket.close()
        return errors.BridgeError(why)

    def await_end(self) -> None:
        """Wait on a connection of life until the JVM ends it, or this process closes it."""
        while self._broken is None:
            try:
                if not self._socket.recv(1):
                    return
            except BlockingIOError:
                continue
            except OSError:
                return

    def goodbye(self) -> None:
        """Say on a connection of life that this process is done with its groups."""
        # Without a JVM there is no need for good manners.
        with contextlib.suppress(OSError):
            self._socket.sendall(bytes((_codes.GOODBYE,)))

    def __del__(self) -> None:
        # Of a thread that has ended.
        if hasattr(self, "_socket"):
            self._socket.close()

    def close(self, why: str) -> None:
        """Close it; further calls raise, and say why."""
        self._broken = self._broken or why
        self._socket.close()

"""The connection between a thread of this process and the JVM of its executor.

The layout of requests and replies is described in the Java package
``org.sparkcollectives.spark.python``.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import socket
import struct
import time
from typing import List, Optional, Sequence, Tuple

from . import errors

HEAD = struct.Struct("<IBBBxiiiqdHH")
TENSOR = struct.Struct("<IB3xQQ")
HEAD_BYTES = HEAD.size - 4

DONE = 0
FAILED = 1
PENDING = 2

ASYNCHRONOUS = 1
CHOICE = 2

BROADCAST = 0
ALL_REDUCE = 1
ALL_REDUCE_COALESCED = 2
REDUCE = 3
ALL_GATHER = 4
ALL_GATHER_INTO = 5
GATHER = 7
SCATTER = 8
REDUCE_SCATTER = 9
ALL_TO_ALL_INTO = 10
ALL_TO_ALL = 11
SEND = 12
RECV = 13
RECV_ANY = 14
BARRIER = 15
REDUCE_SCATTER_INTO = 16
COALESCED = 17

GOODBYE = 64
JOIN = 65
NEW_GROUP = 66
SPLIT = 67
SHRINK = 68
CLOSE_GROUP = 69
ABORT_GROUP = 70
EXTEND_TIMEOUT = 71
MONITORED_BARRIER = 72
CHECKPOINT = 73
RESTORE = 74

ALLOCATE = 80
WRITE = 81
READ = 82

AWAIT_WORK = 90
TEST_WORK = 91

STORE_SET = 128
STORE_GET = 129
STORE_COMPARE_SET = 130
STORE_ADD = 131
STORE_APPEND = 132
STORE_WAIT = 133
STORE_CHECK = 134
STORE_DELETE = 135
STORE_NUM_KEYS = 136
STORE_MULTI_GET = 137
STORE_MULTI_SET = 138
STORE_LIST_KEYS = 139
STORE_QUEUE_PUSH = 140
STORE_QUEUE_POP = 141
STORE_QUEUE_LENGTH = 142

CALLS = 0
LIFE = 1

_MAGIC = 0x53435059
_VERSION = 1
_NONCE_BYTES = 16
_PROOF_BYTES = 32
_HELLO = struct.Struct("<IHBxqi16s")
_CHALLENGE = struct.Struct("<IHBx16s")

#: The longest request that the JVM takes.
MOST_FRAME_BYTES = (128 << 20) + (1 << 20)

_KEPT_BYTES = 16 * 1024

#: How often a wait for the JVM looks whether it has taken too long.
_LOOK_SECONDS = 1

#: How much later than the JVM this side gives up.
MARGIN_SECONDS = 30.0

#: A tensor as requests have it: segment, type, offset, count.
Place = Tuple[int, int, int, int]


def pack_bytes(value: bytes) -> bytes:
    """A byte string as requests have it."""
    return struct.pack("<I", len(value)) + value


def pack_text(value: str) -> bytes:
    """A text as requests have it."""
    return pack_bytes(value.encode("utf-8"))


def pack_texts(values: Sequence[str]) -> bytes:
    """Several texts as requests have them."""
    return struct.pack("<I", len(values)) + b"".join(map(pack_text, values))


def pack_ints(values: Sequence[int]) -> bytes:
    """Several 32-bit numbers as requests have them."""
    return struct.pack(f"<I{len(values)}i", len(values), *values)


def pack_longs(values: Sequence[int]) -> bytes:
    """Several 64-bit numbers as requests have them."""
    return struct.pack(f"<I{len(values)}q", len(values), *values)


class Reply:
    """What the JVM answered, read from front to back."""

    __slots__ = ("_at", "_bytes", "status")

    def __init__(self, status: int, content: bytes) -> None:
        self.status = status
        self._bytes = content
        self._at = 0

    def _next(self, form: str, size: int) -> int:
        (value,) = struct.unpack_from(form, self._bytes, self._at)
        self._at += size
        return int(value)

    def rest(self) -> bytes:
        """Whatever has not been read."""
        return self._bytes[self._at :]

    def next_byte(self) -> int:
        """The next byte."""
        return self._next("<B", 1)

    def next_int(self) -> int:
        """The next 32-bit number."""
        return self._next("<i", 4)

    def next_long(self) -> int:
        """The next 64-bit number."""
        return self._next("<q", 8)

    def next_bytes(self) -> bytes:
        """The next byte string."""
        length = self._next("<I", 4)
        value = self._bytes[self._at : self._at + length]
        self._at += length
        return value

    def next_text(self) -> str:
        """The next text."""
        return self.next_bytes().decode("utf-8")

    def next_texts(self) -> List[str]:
        """The next list of texts."""
        return [self.next_text() for _ in range(self.next_int())]

    def next_ints(self) -> List[int]:
        """The next list of 32-bit numbers."""
        return [self.next_int() for _ in range(self.next_int())]

    def ends_negative(self) -> bool:
        """Whether the next number is negative, which then is all there is."""
        return self._bytes[self._at + 3] >= 128

    def error(self) -> Exception:
        """The error that this reply is."""
        return errors.of_reply(
            self.next_text(), self.next_text(), self.next_text(), self.next_int(), self.next_ints()
        )


class Connection:
    """A connection that has proven itself. Used by one thread."""

    def __init__(
        self, host: str, port: int, secret: bytes, attempt: int, purpose: int = CALLS
    ) -> None:
        try:
            connected = socket.create_connection((host, port), timeout=10.0)
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
        self._socket.sendall(hello)
        magic, version, status, theirs = _CHALLENGE.unpack(self._read(_CHALLENGE.size))
        if magic != _MAGIC or version != _VERSION or status != 0:
            raise errors.BridgeError(
                f"The jar speaks version {version} of the bridge's protocol and this package "
                f"version {_VERSION}: install the package and the jar of the same release"
            )
        self._socket.sendall(
            hmac.new(secret, b"client" + nonce + theirs + hello, "sha256").digest()
        )
        answer = self._read(1 + _PROOF_BYTES)
        proof = hmac.new(secret, b"server" + nonce + theirs + hello, hashlib.sha256).digest()
        if answer[0] != 0 or not hmac.compare_digest(answer[1:], proof):
            raise errors.BridgeError(
                "The executor's JVM refused this process: its task has ended, or the port is in "
                "other hands"
            )

    def _read(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            try:
                part = self._socket.recv(count - len(content))
            except OSError as e:
                raise errors.BridgeError(f"The executor's JVM does not answer: {e}") from e
            if not part:
                raise errors.BridgeError("The executor's JVM closed the connection")
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
        outputs: Sequence[Place] = (),
        inputs: Sequence[Place] = (),
        body: bytes = b"",
        patience: float = MARGIN_SECONDS,
    ) -> Reply:
        """Have the JVM do something, and wait for its reply.

        ``patience``: how many seconds a JVM that stands still is waited for.
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
        outputs: Sequence[Place] = (),
        inputs: Sequence[Place] = (),
        body: bytes = b"",
    ) -> None:
        """Have the JVM do something, after what it was asked for before."""
        if self._broken is not None:
            raise errors.BridgeError(self._broken)
        places = b""
        for place in outputs:
            places += TENSOR.pack(*place)
        for place in inputs:
            places += TENSOR.pack(*place)
        frame = (
            HEAD.pack(
                HEAD_BYTES + len(places) + len(body),
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
        if len(frame) - 4 > MOST_FRAME_BYTES:
            raise ValueError(
                f"The request has {len(frame):,} bytes, and {MOST_FRAME_BYTES:,} are possible at "
                "the most: keep large values in tensors or files, not in the store"
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
                        f"The executor's JVM has taken nothing for {MARGIN_SECONDS:.0f} s; it "
                        "stands still"
                    ) from None

    def take(self, patience: float) -> Reply:
        """Wait for the next reply; replies come in the order of the posts."""
        reply = self.skip(patience)
        if reply.status == FAILED:
            raise reply.error()
        return reply

    def skip(self, patience: float) -> Reply:
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

    def _receive(self, patience: float) -> Reply:
        self._fill(4, patience)
        length = 4 + int.from_bytes(self._buffer[:4], "little")
        if length > len(self._buffer):
            self._buffer.extend(bytes(length - len(self._buffer)))
        self._fill(length, patience)
        reply = Reply(self._buffer[4], bytes(self._buffer[5:length]))
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
                        f"The executor's JVM gave no answer for {patience:.0f} s; it stands still"
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
            self._socket.sendall(bytes((GOODBYE,)))

    def __del__(self) -> None:
        # Of a thread that has ended.
        if hasattr(self, "_socket"):
            self._socket.close()

    def close(self, why: str) -> None:
        """Close it; further calls raise, and say why."""
        self._broken = self._broken or why
        self._socket.close()

"""The key-value store in the driver."""

from __future__ import annotations

import struct
from datetime import timedelta
from typing import TYPE_CHECKING, List, Optional, Sequence, Union

from . import _codes, _connection, _frames
from ._frames import Request
from .work import Seconds, millis

if TYPE_CHECKING:
    from ._task import Task

Value = Union[bytes, bytearray, str]


def _bytes(value: Value) -> bytes:
    content = value.encode("utf-8") if isinstance(value, str) else bytes(value)
    if len(content) > _frames.MAX_VALUE_BYTES:
        raise ValueError(
            f"A value of {len(content):,} bytes is larger than the largest, "
            f"{_frames.MAX_VALUE_BYTES:,} bytes: store it in parts, or keep arrays with "
            "checkpoint()"
        )
    return content


class Store:
    """A group's part of the driver's store, for keys of the application.

    The semantics are those of ``torch.distributed.Store``. Values are byte strings of up to
    2046 MiB; texts are encoded as UTF-8. A call that waits raises :class:`StoreTimeoutError` after
    ``timeout`` seconds, by default the property ``timeout``, at first
    ``spark.collectives.store.timeout``. It raises earlier if the group fails.
    """

    def __init__(self, task: Task, group: int) -> None:
        self._task = task
        self._group = group
        self._timeout_ms = 0

    @property
    def timeout(self) -> timedelta:
        """How long calls wait that are given no timeout of their own."""
        seconds = self._timeout_ms / 1000.0 if self._timeout_ms else self._task.store_wait
        return timedelta(seconds=seconds)

    def set_timeout(self, timeout: Seconds) -> None:
        """Set how long calls of this object wait that are given no timeout of their own."""
        self._timeout_ms = millis(timeout)

    def clone(self) -> Store:
        """Return another object with the same keys and timeout. Threads may share one, too."""
        made = Store(self._task, self._group)
        made._timeout_ms = self._timeout_ms
        return made

    def has_extended_api(self) -> bool:
        """Return True: the store has append, multi_get, multi_set and queues."""
        return True

    def _call(
        self, code: int, body: bytes = b"", timeout: Optional[Seconds] = None, flags: int = 0
    ) -> _frames.Reply:
        wait_ms = millis(timeout) or self._timeout_ms
        wait = wait_ms / 1000.0 if wait_ms else self._task.store_wait
        return self._task.connection().call(
            Request(code, flags=flags, group=self._group, timeout_ms=wait_ms, body=body),
            wait + _connection.MARGIN_SECONDS,
        )

    def _values(self, *values: Value) -> bytes:
        """Encode values; send those that would make the request too long before it, in pieces."""
        contents = [_bytes(each) for each in values]
        packed = []
        left = _frames.PIECE_BYTES
        sent = 0
        for content in contents:
            if len(content) <= left:
                left -= len(content)
                packed.append(_frames.pack_bytes(content))
            else:
                self._send_ahead(sent, content)
                sent += 1
                packed.append(struct.pack("<I", _frames.SEPARATE))
        return b"".join(packed)

    def _send_ahead(self, index: int, content: bytes) -> None:
        connection = self._task.connection()
        whole = memoryview(content)
        for at in range(0, len(whole), _frames.PIECE_BYTES):
            connection.call(
                Request(
                    _codes.BRING,
                    flags=_codes.CHOICE if at == 0 else 0,
                    tag=index,
                    body=struct.pack("<q", len(whole)) + whole[at : at + _frames.PIECE_BYTES],
                )
            )

    def _value(self, reply: _frames.Reply) -> bytes:
        """Read the next value of a reply; fetch it in pieces if it was too large for the reply."""
        size = reply.next_separate_size()
        if size < 0:
            return reply.next_bytes()
        connection = self._task.connection()
        pieces: List[bytes] = []
        missing = size
        while missing > 0:
            pieces.append(connection.call(Request(_codes.FETCH)).next_bytes())
            missing -= len(pieces[-1])
        return b"".join(pieces)

    def set(self, key: str, value: Value) -> None:
        """Store a value, replacing the old one, and wake the ranks that wait for the key."""
        self._call(_codes.STORE_SET, _frames.pack_text(key) + self._values(value))

    def get(self, key: str, timeout: Optional[Seconds] = None) -> bytes:
        """Wait until the key exists and return its value."""
        return self._value(self._call(_codes.STORE_GET, _frames.pack_text(key), timeout))

    def compare_set(self, key: str, expected: Value, desired: Value) -> bytes:
        """Replace the value by ``desired`` if it is ``expected``; return the value afterwards.

        An empty ``expected`` also matches a key that does not exist.
        """
        return self._value(
            self._call(
                _codes.STORE_COMPARE_SET, _frames.pack_text(key) + self._values(expected, desired)
            )
        )

    def add(self, key: str, amount: int) -> int:
        """Add to the decimal number that the key holds as text; return the sum."""
        return self._call(
            _codes.STORE_ADD, _frames.pack_text(key) + struct.pack("<q", amount)
        ).next_long()

    def append(self, key: str, value: Value) -> None:
        """Append to the value of the key, creating it if it does not exist."""
        self._call(_codes.STORE_APPEND, _frames.pack_text(key) + self._values(value))

    def wait(self, keys: Sequence[str], timeout: Optional[Seconds] = None) -> None:
        """Wait until all of the keys exist."""
        self._call(_codes.STORE_WAIT, _frames.pack_texts(keys), timeout)

    def check(self, keys: Sequence[str]) -> bool:
        """Return whether all of the keys exist, without waiting."""
        return self._call(_codes.STORE_CHECK, _frames.pack_texts(keys)).next_byte() != 0

    def delete_key(self, key: str) -> bool:
        """Remove the key, a value or a queue; return whether it existed."""
        return self._call(_codes.STORE_DELETE, _frames.pack_text(key)).next_byte() != 0

    def num_keys(self) -> int:
        """Return the number of keys."""
        return self._call(_codes.STORE_NUM_KEYS).next_long()

    def multi_get(self, keys: Sequence[str], timeout: Optional[Seconds] = None) -> List[bytes]:
        """Wait until all of the keys exist and return their values."""
        reply = self._call(_codes.STORE_MULTI_GET, _frames.pack_texts(keys), timeout)
        return [self._value(reply) for _ in range(reply.next_int())]

    def multi_set(self, keys: Sequence[str], values: Sequence[Value]) -> None:
        """Store each value under the key at the same index."""
        if len(keys) != len(values):
            raise ValueError(f"There are {len(keys)} keys and {len(values)} values")
        self._call(_codes.STORE_MULTI_SET, _frames.pack_texts(keys) + self._values(*values))

    def list_keys(self) -> List[str]:
        """Return all keys, in no particular order."""
        return self._call(_codes.STORE_LIST_KEYS).next_texts()

    def barrier(self, key: str, world_size: int, timeout: Optional[Seconds] = None) -> None:
        """Wait until ``world_size`` callers have come to the key, which may then be used again.

        :raises StoreTimeoutError: after the timeout, saying how many have come; this caller no
            longer counts
        :raises ValueError: if other callers gave another size
        """
        self._call(
            _codes.STORE_BARRIER, _frames.pack_text(key) + struct.pack("<i", world_size), timeout
        )

    def queue_push(self, key: str, value: Value) -> None:
        """Append a value to a queue, creating it if it does not exist."""
        self._call(_codes.STORE_QUEUE_PUSH, _frames.pack_text(key) + self._values(value))

    def queue_pop(self, key: str, block: bool = True, timeout: Optional[Seconds] = None) -> bytes:
        """Remove and return the oldest value of a queue.

        If the queue is empty, waits for a value; with ``block=False``, raises instead.
        """
        flags = _codes.CHOICE if block else 0
        return self._value(
            self._call(_codes.STORE_QUEUE_POP, _frames.pack_text(key), timeout, flags)
        )

    def queue_len(self, key: str) -> int:
        """Return the number of values in a queue; 0 if it does not exist."""
        return self._call(_codes.STORE_QUEUE_LENGTH, _frames.pack_text(key)).next_long()

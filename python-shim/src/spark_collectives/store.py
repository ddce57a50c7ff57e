"""The key-value store in the driver."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, List, Optional, Sequence, Union

from . import _codes, _connection, _frames
from .work import Seconds, millis

if TYPE_CHECKING:
    from ._task import Task

Value = Union[bytes, bytearray, str]


def _bytes(value: Value) -> bytes:
    return value.encode("utf-8") if isinstance(value, str) else bytes(value)


class Store:
    """The part of the driver's store that a group's ranks share, for keys of one's own.

    The semantics are those of ``torch.distributed.Store``. Values are byte strings, texts become
    UTF-8. Calls that wait do so for ``spark.collectives.store.timeout`` unless they are told
    otherwise, and raise once the group has failed.
    """

    def __init__(self, task: Task, group: int) -> None:
        self._task = task
        self._group = group

    def _call(
        self, code: int, body: bytes = b"", timeout: Optional[Seconds] = None, flags: int = 0
    ) -> _frames.Reply:
        wait_ms = millis(timeout)
        wait = wait_ms / 1000.0 if wait_ms else self._task.store_wait
        return self._task.connection().call(
            code,
            flags=flags,
            group=self._group,
            timeout_ms=wait_ms,
            body=body,
            patience=wait + _connection.MARGIN_SECONDS,
        )

    def set(self, key: str, value: Value) -> None:
        """Store a value, replacing what was there, and wake who waits for it."""
        self._call(_codes.STORE_SET, _frames.pack_text(key) + _frames.pack_bytes(_bytes(value)))

    def get(self, key: str, timeout: Optional[Seconds] = None) -> bytes:
        """Wait until the key exists and return its value."""
        return self._call(_codes.STORE_GET, _frames.pack_text(key), timeout).next_bytes()

    def compare_set(self, key: str, expected: Value, desired: Value) -> bytes:
        """Replace the value by ``desired`` if it now is ``expected``; return the value then.

        An empty ``expected`` also matches a key that does not exist.
        """
        return self._call(
            _codes.STORE_COMPARE_SET,
            _frames.pack_text(key)
            + _frames.pack_bytes(_bytes(expected))
            + _frames.pack_bytes(_bytes(desired)),
        ).next_bytes()

    def add(self, key: str, amount: int) -> int:
        """Add to the decimal number that the key holds as text; return the sum."""
        return self._call(
            _codes.STORE_ADD, _frames.pack_text(key) + struct.pack("<q", amount)
        ).next_long()

    def append(self, key: str, value: Value) -> None:
        """Append to the value of the key, creating it if it does not exist."""
        self._call(_codes.STORE_APPEND, _frames.pack_text(key) + _frames.pack_bytes(_bytes(value)))

    def wait(self, keys: Sequence[str], timeout: Optional[Seconds] = None) -> None:
        """Wait until all of the keys exist."""
        self._call(_codes.STORE_WAIT, _frames.pack_texts(keys), timeout)

    def check(self, keys: Sequence[str]) -> bool:
        """Say whether all of the keys exist. Does not wait."""
        return self._call(_codes.STORE_CHECK, _frames.pack_texts(keys)).next_byte() != 0

    def delete_key(self, key: str) -> bool:
        """Remove the key, value or queue, and say whether it existed."""
        return self._call(_codes.STORE_DELETE, _frames.pack_text(key)).next_byte() != 0

    def num_keys(self) -> int:
        """Give the number of keys."""
        return self._call(_codes.STORE_NUM_KEYS).next_long()

    def multi_get(self, keys: Sequence[str], timeout: Optional[Seconds] = None) -> List[bytes]:
        """Wait until all of the keys exist and return their values."""
        reply = self._call(_codes.STORE_MULTI_GET, _frames.pack_texts(keys), timeout)
        return [reply.next_bytes() for _ in range(reply.next_int())]

    def multi_set(self, keys: Sequence[str], values: Sequence[Value]) -> None:
        """Store each value under the key at the same place."""
        if len(keys) != len(values):
            raise ValueError(f"There are {len(keys)} keys and {len(values)} values")
        body = _frames.pack_texts(keys) + b"".join(_frames.pack_bytes(_bytes(v)) for v in values)
        self._call(_codes.STORE_MULTI_SET, body)

    def list_keys(self) -> List[str]:
        """Give all keys, in no particular order."""
        return self._call(_codes.STORE_LIST_KEYS).next_texts()

    def queue_push(self, key: str, value: Value) -> None:
        """Append a value to a queue, creating it if it does not exist."""
        self._call(
            _codes.STORE_QUEUE_PUSH, _frames.pack_text(key) + _frames.pack_bytes(_bytes(value))
        )

    def queue_pop(self, key: str, block: bool = True, timeout: Optional[Seconds] = None) -> bytes:
        """Take the oldest value of a queue, and wait for one if it is empty and ``block``."""
        flags = _codes.CHOICE if block else 0
        return self._call(
            _codes.STORE_QUEUE_POP, _frames.pack_text(key), timeout, flags
        ).next_bytes()

    def queue_len(self, key: str) -> int:
        """Give the number of values in a queue; 0 if it does not exist."""
        return self._call(_codes.STORE_QUEUE_LENGTH, _frames.pack_text(key)).next_long()

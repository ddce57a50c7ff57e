"""Requests and replies as bytes.

The layout of requests and replies is described in the Java package
``org.sparkcollectives.spark.python``.
"""

from __future__ import annotations

import struct
from typing import List, Sequence, Tuple

from . import errors

HEAD = struct.Struct("<IBBBxiiiqdHH")
TENSOR = struct.Struct("<IBBxxQQ")
HEAD_BYTES = HEAD.size - 4

#: The longest request that the JVM takes.
MOST_FRAME_BYTES = (128 << 20) + (1 << 20)

#: How much of values a request has before the next one is brought before it, and the largest piece.
PIECE_BYTES = 16 << 20

#: Stands in the place of the length of a byte string that travels apart.
APART = (1 << 32) - 1

#: The largest value that a store takes: nearly what an array of the JVM can have.
MOST_VALUE_BYTES = 2046 << 20

#: A tensor as requests have it: segment, type, offset, count, shape.
Place = Tuple[int, int, int, int, Tuple[int, ...]]


def pack_place(place: Place) -> bytes:
    """A tensor as requests have it: one dimension needs no shape."""
    segment, code, offset, count, shape = place
    packed = TENSOR.pack(segment, code, len(shape), offset, count)
    return packed if len(shape) == 1 else packed + struct.pack(f"<{len(shape)}Q", *shape)


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

    def next_size_apart(self) -> int:
        """The size of the next byte string if it is to be fetched; -1 if it is here."""
        (length,) = struct.unpack_from("<I", self._bytes, self._at)
        if length != APART:
            return -1
        self._at += 4
        return self.next_int()

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

"""The encoding of requests and replies.

The layout of requests and replies is described in the Java package
``org.sparkcollectives.spark.internal.python``.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import List, Optional, Sequence, Tuple

from . import errors
from .reduce_op import ReduceOp

HEAD = struct.Struct("<IBBBxiiiqdHH")
TENSOR = struct.Struct("<IBBxxQQ")
HEAD_BYTES = HEAD.size - 4

#: The longest request that the JVM accepts.
MAX_FRAME_BYTES = (128 << 20) + (1 << 20)

#: The most bytes of values in one request, and of one piece of a value that is sent separately.
PIECE_BYTES = 16 << 20

#: The length field of a byte string that is sent separately, in pieces.
SEPARATE = (1 << 32) - 1

#: The largest value of a store: a little less than the largest array of the JVM.
MAX_VALUE_BYTES = 2046 << 20

#: The largest tag of a message, and the most tensors that one operation reads, or writes.
MAX_TAG = (1 << 31) - 1
MAX_TENSORS = (1 << 16) - 1

_MESSAGE = struct.Struct("<Bii")

#: A tensor in the memory that the JVM sees: segment, type, offset, count, shape.
TensorRef = Tuple[int, int, int, int, Tuple[int, ...]]


def pack_tensor(tensor: TensorRef) -> bytes:
    """Encode a tensor; one dimension needs no shape."""
    segment, code, offset, count, shape = tensor
    packed = TENSOR.pack(segment, code, len(shape), offset, count)
    return packed if len(shape) == 1 else packed + struct.pack(f"<{len(shape)}Q", *shape)


@dataclasses.dataclass(slots=True)
class Request:
    """A request to the JVM. Which fields it has depends on its code."""

    code: int
    flags: int = 0
    op: Optional[ReduceOp] = None
    group: int = 0
    peer: int = 0
    tag: int = 0
    timeout_ms: int = 0
    #: The tensors that are written, and those that are only read.
    outputs: Sequence[TensorRef] = ()
    inputs: Sequence[TensorRef] = ()
    body: bytes = b""

    def encode(self) -> bytes:
        """Encode the request.

        :raises ValueError: if it is longer than the JVM accepts, or a number is out of its range
        """
        tensors = b"".join(map(pack_tensor, (*self.outputs, *self.inputs)))
        return self.encode_with(tensors, len(self.outputs), len(self.inputs))

    def encode_with(self, tensors: bytes, outputs: int, inputs: int) -> bytes:
        """Encode the request with tensors that are encoded already, as :meth:`encode` does."""
        op = self.op
        size = HEAD_BYTES + len(tensors) + len(self.body)
        if size > MAX_FRAME_BYTES:
            raise ValueError(
                f"The request has {size:,} bytes, and {MAX_FRAME_BYTES:,} are possible at the "
                "most: keep large values in tensors or files, not in the store"
            )
        try:
            head = HEAD.pack(
                size,
                self.code,
                self.flags,
                0 if op is None else op.code,
                self.group,
                self.peer,
                self.tag,
                self.timeout_ms,
                1.0 if op is None else op.factor,
                outputs,
                inputs,
            )
        except struct.error as e:
            raise _out_of_range(self.tag, max(outputs, inputs), e) from None
        return head + tensors + self.body


def pack_message(sent: bool, peer: int, tag: int) -> bytes:
    """Encode a message of a batch.

    :raises ValueError: if a number is not within its range
    """
    try:
        return _MESSAGE.pack(sent, peer, tag)
    except struct.error as e:
        raise _out_of_range(tag, 0, e) from None


def _out_of_range(tag: int, tensors: int, error: Exception) -> ValueError:
    if isinstance(tag, int) and not 0 <= tag <= MAX_TAG:
        return ValueError(f"The tag must be from 0 to {MAX_TAG:,}, and is {tag:,}")
    if tensors > MAX_TENSORS:
        return ValueError(
            f"One operation has {MAX_TENSORS:,} arrays at the most, and {tensors:,} were given"
        )
    return ValueError(f"A number is out of its range: {error}")


def pack_bytes(value: bytes) -> bytes:
    """Encode a byte string."""
    return struct.pack("<I", len(value)) + value


def pack_text(value: str) -> bytes:
    """Encode a text."""
    return pack_bytes(value.encode("utf-8"))


def pack_texts(values: Sequence[str]) -> bytes:
    """Encode a list of texts."""
    return struct.pack("<I", len(values)) + b"".join(map(pack_text, values))


def pack_ints(values: Sequence[int]) -> bytes:
    """Encode a list of 32-bit integers."""
    return struct.pack(f"<I{len(values)}i", len(values), *values)


def pack_longs(values: Sequence[int]) -> bytes:
    """Encode a list of 64-bit integers."""
    return struct.pack(f"<I{len(values)}q", len(values), *values)


class Reply:
    """A reply of the JVM, read from front to back."""

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
        """Return the bytes that have not been read."""
        return self._bytes[self._at :]

    def next_byte(self) -> int:
        """Read the next byte."""
        return self._next("<B", 1)

    def next_int(self) -> int:
        """Read the next 32-bit integer."""
        return self._next("<i", 4)

    def next_long(self) -> int:
        """Read the next 64-bit integer."""
        return self._next("<q", 8)

    def next_bytes(self) -> bytes:
        """Read the next byte string."""
        length = self._next("<I", 4)
        value = self._bytes[self._at : self._at + length]
        self._at += length
        return value

    def next_separate_size(self) -> int:
        """Read the size of the next byte string if it must be fetched; return -1 if it is here."""
        (length,) = struct.unpack_from("<I", self._bytes, self._at)
        if length != SEPARATE:
            return -1
        self._at += 4
        return self.next_int()

    def next_text(self) -> str:
        """Read the next text."""
        return self.next_bytes().decode("utf-8")

    def next_texts(self) -> List[str]:
        """Read the next list of texts."""
        return [self.next_text() for _ in range(self.next_int())]

    def next_ints(self) -> List[int]:
        """Read the next list of 32-bit integers."""
        return [self.next_int() for _ in range(self.next_int())]

    def ends_negative(self) -> bool:
        """Return whether the next 32-bit integer, which is not consumed, is negative."""
        return self._bytes[self._at + 3] >= 128

    def error(self) -> Exception:
        """Read the error that a reply of status FAILED has."""
        return errors.of_reply(
            self.next_text(), self.next_text(), self.next_text(), self.next_int(), self.next_ints()
        )

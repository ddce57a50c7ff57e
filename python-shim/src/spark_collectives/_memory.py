"""Memory that this process shares with its executor's JVM."""

from __future__ import annotations

import mmap
import os
import struct
import threading
import weakref
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Tuple

import numpy as np

from . import _codes, _frames
from ._frames import Request
from ._task import Task

#: The largest size of a segment: that of a buffer of the JVM.
MAX_BYTES = (1 << 31) - 65

#: The smallest size of a segment.
SMALLEST = 64 * 1024
_ALIGNMENT = 64
_SENT_BYTES = 1 << 20
_NONCE_BYTES = 16


def aligned(size: int) -> int:
    """Return the size that a tensor takes in a segment."""
    return (size + _ALIGNMENT - 1) & -_ALIGNMENT


class Segment:
    """A piece of memory that the JVM has allocated.

    If this process can map it, ``bytes`` is that memory. Otherwise ``bytes`` is a copy, and
    :meth:`send` and :meth:`receive` move it through the socket.
    """

    __slots__ = ("__weakref__", "address", "bytes", "id", "mapped", "scratch", "size", "task")

    def __init__(
        self,
        task: Task,
        id_: int,
        size: int,
        memory: Optional[mmap.mmap],
        begin: int,
        scratch: bool = False,
    ):
        self.task = task
        self.id = id_
        self.size = size
        self.scratch = scratch
        self.mapped = memory is not None
        if memory is not None:
            self.bytes = np.frombuffer(memory, dtype=np.uint8, count=size, offset=begin)
        else:
            self.bytes = np.zeros(size, dtype=np.uint8)
        self.address = _address(self.bytes)

    def array(self, offset: int, like: Any) -> Any:
        """Return the array in this memory that has the shape and type of another."""
        memory = self.bytes[offset : offset + like.nbytes]
        return memory.view(like.dtype).reshape(like.shape)

    def send(self, offset: int, count: int) -> None:
        """Send bytes to the JVM, unless the memory is mapped."""
        if self.mapped:
            return
        connection = self.task.connection()
        for at in range(offset, offset + count, _SENT_BYTES):
            part = self.bytes[at : min(at + _SENT_BYTES, offset + count)]
            body = struct.pack("<IQ", self.id, at) + part.tobytes()
            connection.call(Request(_codes.WRITE, body=body))

    def receive(self, offset: int, count: int) -> None:
        """Receive bytes from the JVM, unless the memory is mapped."""
        if self.mapped:
            return
        connection = self.task.connection()
        for at in range(offset, offset + count, _SENT_BYTES):
            size = min(_SENT_BYTES, offset + count - at)
            reply = connection.call(
                Request(_codes.READ, body=struct.pack("<IQI", self.id, at, size))
            )
            self.bytes[at : at + size] = np.frombuffer(reply.next_bytes(), dtype=np.uint8)


def map_file(path: str, nonce: bytes, begin: int, size: int) -> mmap.mmap:
    """Map a file of a JVM, up to ``size`` bytes from ``begin`` on.

    :param nonce: the random bytes with which it begins
    :raises OSError: if it cannot be opened here, or is another file
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if os.pread(descriptor, _NONCE_BYTES, 0) != nonce:
            raise OSError(f"{path} is another file here")
        return mmap.mmap(descriptor, begin + size)
    finally:
        os.close(descriptor)


class SegmentPool:
    """The segments of one group, which are reused. Thread-safe.

    A segment is either scratch memory, for copies of the arrays of an operation, or has an array of
    the user's. Other ranks write their results straight into scratch memory. A rank that was
    stopped, and goes on after the others' operation has failed, does so, too: the scratch memory of
    a failed operation must not be given back.

    Sizes are powers of two, so a group has at most twice the memory that its operations need at the
    same time. The end of the group frees all of it.
    """

    def __init__(self, task: Task, group: int) -> None:
        self._task = task
        self._group = group
        self._lock = threading.Lock()
        #: By size, and by whether they are scratch memory.
        self._free: Dict[Tuple[int, bool], List[Segment]] = {}
        self._lent: Dict[int, Segment] = {}
        #: Segments whose arrays are gone. The garbage collector may run inside any statement, even
        #: while this thread holds the lock, so its callback appends here and takes no lock.
        self._returned: Deque[Segment] = deque()
        self._closed = False
        task.pools.add(self)

    @property
    def can_map(self) -> bool:
        """Whether this process can map memory of the JVM, as far as is known."""
        return self._task.can_map

    def take(self, size: int) -> Segment:
        """Take scratch memory of at least ``size`` bytes."""
        return self._take(size, True)

    def _take(self, size: int, scratch: bool) -> Segment:
        if size > MAX_BYTES:
            raise ValueError(
                f"A tensor has {size:,} bytes, and {MAX_BYTES:,} are possible: split it up"
            )
        capacity = min(max(SMALLEST, 1 << (size - 1).bit_length()), MAX_BYTES)
        with self._lock:
            self._take_returned()
            free = self._free.get((capacity, scratch))
            if free:
                return free.pop()
        return self._allocate(capacity, scratch)

    def _allocate(self, size: int, scratch: bool) -> Segment:
        if self._task.can_map:
            reply = self._ask(size, _codes.SCRATCH if scratch else 0)
            id_, path, nonce, begin = (
                reply.next_int(),
                reply.next_text(),
                reply.next_bytes(),
                reply.next_long(),
            )
            try:
                memory = map_file(path, nonce, begin, size)
                return Segment(self._task, id_, size, memory, begin, scratch)
            except OSError:
                # The JVM is in another container, or there is no /proc: use the socket instead.
                self._task.can_map = False
        id_ = self._ask(size, _codes.CHOICE).next_int()
        return Segment(self._task, id_, size, None, 0, scratch)

    def _ask(self, size: int, flags: int) -> _frames.Reply:
        return self._task.connection().call(
            Request(_codes.ALLOCATE, flags=flags, group=self._group, body=struct.pack("<Q", size))
        )

    def give_back(self, segment: Segment) -> None:
        """Put a segment that nobody uses back into the pool."""
        with self._lock:
            self._keep(segment)

    def _keep(self, segment: Segment) -> None:
        """Keep a segment that nobody uses; the caller has the lock."""
        if not self._closed:
            self._free.setdefault((segment.size, segment.scratch), []).append(segment)

    def close(self) -> None:
        """Release all segments; one with an array in it is freed with the array."""
        with self._lock:
            self._closed = True
            self._free.clear()
            self._lent.clear()
            self._returned.clear()

    def empty(self, shape: Tuple[int, ...], dtype: Any) -> Any:
        """Create an array in a segment; the segment is reused once no view of the array is left."""
        size = dtype.itemsize
        for extent in shape:
            size *= extent
        segment = self._take(max(1, size), False)
        if not segment.mapped:
            self.give_back(segment)
            return np.empty(shape, dtype)
        owner = _Owner(segment, size)
        with self._lock:
            self._lent[segment.address] = segment
        weakref.finalize(owner, self._return, segment)
        return np.asarray(owner).view(dtype).reshape(shape)

    def _return(self, segment: Segment) -> None:
        """Keep the segment of an array that is gone, unless the pool is closed."""
        self._returned.append(segment)
        if self._closed:
            self._returned.clear()

    def _take_returned(self) -> None:
        """Put the segments of arrays that are gone back into the pool; the caller has the lock."""
        while self._returned:
            segment = self._returned.popleft()
            self._lent.pop(segment.address, None)
            self._keep(segment)

    def find(self, array: Any) -> Optional[Tuple[Segment, int]]:
        """Return the segment and the offset of an array that :meth:`empty` has created, or None."""
        base = array.base
        if base is None or not self._lent or not array.flags.c_contiguous:
            return None
        # The base of a view is the array that was made of the owner.
        owner = getattr(base, "base", None)
        if isinstance(owner, _Owner):
            segment = owner.segment
            if self._lent.get(segment.address) is not segment:
                return None
            # A contiguous array of the whole size begins where the memory does.
            whole = array.nbytes == owner.size
            offset = 0 if whole else _address(array) - segment.address
            return (segment, offset) if offset % array.itemsize == 0 else None
        return self._find_by_address(array)

    def _find_by_address(self, array: Any) -> Optional[Tuple[Segment, int]]:
        """Find an array whose owner numpy does not know, such as the memory of a tensor."""
        address = _address(array)
        with self._lock:
            lent = list(self._lent.items())
        for begin, segment in lent:
            if begin <= address and address + array.nbytes <= begin + segment.size:
                offset = address - begin
                return (segment, offset) if offset % array.itemsize == 0 else None
        return None


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


class _Owner:
    """The owner of an array in a segment; it lives as long as any view of the array."""

    __slots__ = ("__array_interface__", "__weakref__", "segment", "size")

    def __init__(self, segment: Segment, size: int) -> None:
        self.segment = segment
        self.size = size
        self.__array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (segment.address, False),
            "version": 3,
        }

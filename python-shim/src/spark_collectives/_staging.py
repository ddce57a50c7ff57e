"""The staging of an operation's arrays in memory that the executor's JVM sees."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, List, Sequence, Tuple

import numpy as np

from . import _arrays, _frames, _memory
from ._memory import Segment, SegmentPool, aligned


class Operand:
    """An array of an operation, and whether the operation reads and writes it."""

    __slots__ = ("read", "value", "view", "written")

    def __init__(self, value: Any, read: bool, written: bool) -> None:
        #: The array as the caller gave it.
        self.value = value
        self._bind(_arrays.view_of(value), read, written)

    def _bind(self, view: _arrays.View, read: bool, written: bool) -> None:
        self.view = view
        self.read = read
        self.written = written
        if written and not self.view.array.flags.writeable:
            raise ValueError("The operation writes its result to an array that is read-only")

    def of(self, array: Any) -> Operand:
        """Return the operand for a piece of the array."""
        piece = Operand.__new__(Operand)
        piece.value = array
        piece._bind(self.view._replace(array=array), self.read, self.written)
        return piece


def reads(*arrays: Any) -> List[Operand]:
    """Return the operands for arrays that an operation only reads."""
    return [Operand(each, True, False) for each in arrays]


def writes(*arrays: Any) -> List[Operand]:
    """Return the operands for arrays that an operation only writes."""
    return [Operand(each, False, True) for each in arrays]


def updates(*arrays: Any) -> List[Operand]:
    """Return the operands for arrays that an operation reads and then writes."""
    return [Operand(each, True, True) for each in arrays]


def cut(operand: Operand) -> List[Operand]:
    """Cut an array that is too large for one segment; the cuts depend on its size only."""
    array = operand.view.array
    if aligned(array.nbytes) <= _memory.MAX_BYTES or not array.flags.c_contiguous:
        return [operand]
    flat = array.reshape(-1)
    length = (aligned(_memory.MAX_BYTES) - aligned(1)) // array.itemsize
    return [operand.of(flat[at : at + length]) for at in range(0, flat.size, length)]


class Staged:
    """The staged arrays of one operation.

    Arrays that lie in the group's memory stay there. The others share a segment, or several if
    they are too large for one.
    """

    __slots__ = ("back", "inputs", "outputs", "own", "pool", "segments", "used")

    def __init__(
        self, pool: SegmentPool, outputs: Sequence[Operand], inputs: Sequence[Operand]
    ) -> None:
        self.pool = pool
        self.segments: List[Segment] = []
        #: The number of bytes used of each segment.
        self.used: List[int] = []
        #: Arrays in the group's memory. The pool would reuse their segments if nobody held them.
        self.own: List[Any] = []
        #: The copies to make when the operation is done: the array, and its bytes in the segment.
        self.back: List[Tuple[Any, Any]] = []
        moved: List[Tuple[Operand, int, int]] = []
        self.outputs: List[_frames.TensorRef] = [self._assign(each, moved) for each in outputs]
        self.inputs: List[_frames.TensorRef] = [self._assign(each, moved) for each in inputs]
        if moved:
            self._fill(moved)

    def _assign(self, operand: Operand, moved: List[Tuple[Operand, int, int]]) -> _frames.TensorRef:
        array = operand.view.array
        own = self.pool.find(array)
        if own is not None:
            self.own.append(array)
            return (own[0].id, operand.view.code, own[1], array.size, array.shape)
        size = aligned(array.nbytes)
        if not self.used or self.used[-1] + size > _memory.MAX_BYTES:
            self.used.append(0)
        index = len(self.used) - 1
        offset = self.used[index]
        moved.append((operand, index, offset))
        self.used[index] += size
        # The ids of segments begin at 1. Until the segments are taken, the negative index stands
        # for the id.
        return (-index, operand.view.code, offset, array.size, array.shape)

    def _fill(self, moved: Sequence[Tuple[Operand, int, int]]) -> None:
        try:
            for used in self.used:
                self.segments.append(self.pool.take(max(1, used)))
        except BaseException:
            self.release()
            raise
        self.outputs = [self._resolved(each) for each in self.outputs]
        self.inputs = [self._resolved(each) for each in self.inputs]
        for operand, index, offset in moved:
            segment = self.segments[index]
            array = operand.view.array
            memory = segment.array(offset, array)
            if operand.read:
                np.copyto(memory, array)
                segment.send(offset, array.nbytes)
            if operand.written:
                self.back.append((array, memory))

    def _resolved(self, tensor: _frames.TensorRef) -> _frames.TensorRef:
        return tensor if tensor[0] > 0 else (self.segments[-tensor[0]].id, *tensor[1:])

    @contextlib.contextmanager
    def released_if_refused(self) -> Iterator[None]:
        """Release the segments if the request in the block is refused: then nothing has begun."""
        try:
            yield
        except ValueError:
            self.release()
            raise

    def finish(self) -> None:
        """Copy the results to the caller's arrays, and release the segments."""
        if self.back:
            for segment, used in zip(self.segments, self.used):
                segment.receive(0, used)
        try:
            for array, memory in self.back:
                _arrays.require_memory(array)
                np.copyto(array, memory)
        except Exception:
            self._end()
            raise
        self._end()

    def _end(self) -> None:
        self.back = []
        self.release()

    def release(self) -> None:
        """Return the segments to the pool; nobody uses them any more."""
        self.own = []
        segments, self.segments = self.segments, []
        for segment in segments:
            self.pool.give_back(segment)

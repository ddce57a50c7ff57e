"""Where the arrays of an operation lie, so that the JVM can reach them."""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import numpy as np

from . import _arrays, _frames, _memory
from ._memory import Segment, SegmentPool, aligned


class Part:
    """An array of an operation, and what becomes of it."""

    __slots__ = ("read", "view", "written")

    def __init__(self, value: Any, read: bool, written: bool) -> None:
        self._see(_arrays.view_of(value), read, written)

    def _see(self, view: _arrays.View, read: bool, written: bool) -> None:
        self.view = view
        self.read = read
        self.written = written
        if written and not self.view.array.flags.writeable:
            raise ValueError("The operation writes its result to an array that is read-only")

    def of(self, array: Any) -> Part:
        """The same of a piece of the array."""
        piece = Part.__new__(Part)
        piece._see(self.view._replace(array=array), self.read, self.written)
        return piece


def cut(part: Part) -> List[Part]:
    """Cut an array that is too large for one segment, always in the same places."""
    array = part.view.array
    if aligned(array.nbytes) <= _memory.MOST_BYTES or not array.flags.c_contiguous:
        return [part]
    flat = array.reshape(-1)
    length = (aligned(_memory.MOST_BYTES) - aligned(1)) // array.itemsize
    return [part.of(flat[at : at + length]) for at in range(0, flat.size, length)]


class Staged:
    """The arrays of one operation, and where the JVM finds them.

    Arrays that lie in the group's memory stay there; the others share a segment, or several where
    they are too large for one.
    """

    __slots__ = ("back", "inputs", "outputs", "own", "pool", "segments", "used")

    def __init__(self, pool: SegmentPool, outputs: Sequence[Part], inputs: Sequence[Part]) -> None:
        self.pool = pool
        self.segments: List[Segment] = []
        #: How much of each segment is used.
        self.used: List[int] = []
        #: Arrays in the group's memory, which would be given to others if nobody held them.
        self.own: List[Any] = []
        #: What is copied to an array when the operation is done: array, bytes of the segment.
        self.back: List[Tuple[Any, Any]] = []
        moved: List[Tuple[Part, int, int]] = []
        self.outputs: List[_frames.Place] = [self._place(each, moved) for each in outputs]
        self.inputs: List[_frames.Place] = [self._place(each, moved) for each in inputs]
        if moved:
            self._fill(moved)

    def _place(self, part: Part, moved: List[Tuple[Part, int, int]]) -> _frames.Place:
        array = part.view.array
        own = self.pool.find(array)
        if own is not None:
            self.own.append(array)
            return (own[0].id, part.view.code, own[1], array.size, array.shape)
        size = aligned(array.nbytes)
        if not self.used or self.used[-1] + size > _memory.MOST_BYTES:
            self.used.append(0)
        index = len(self.used) - 1
        offset = self.used[index]
        moved.append((part, index, offset))
        self.used[index] += size
        # Segments have numbers from 1 on: which one it is, is known when they are all taken.
        return (-index, part.view.code, offset, array.size, array.shape)

    def _fill(self, moved: Sequence[Tuple[Part, int, int]]) -> None:
        try:
            for used in self.used:
                self.segments.append(self.pool.take(max(1, used)))
        except BaseException:
            self.release()
            raise
        self.outputs = [self._placed(each) for each in self.outputs]
        self.inputs = [self._placed(each) for each in self.inputs]
        for part, index, offset in moved:
            segment = self.segments[index]
            array = part.view.array
            memory = segment.bytes[offset : offset + array.nbytes]
            memory = memory.view(array.dtype).reshape(array.shape)
            if part.read:
                np.copyto(memory, array)
                segment.send(offset, array.nbytes)
            if part.written:
                self.back.append((array, memory))

    def finish(self) -> None:
        """Copy the results to where they belong."""
        if self.back:
            for segment, used in zip(self.segments, self.used):
                segment.receive(0, used)
        for array, memory in self.back:
            np.copyto(array, memory)
        self.back = []
        self.release()

    def release(self) -> None:
        """Give the memory back, which nobody uses any more."""
        self.own = []
        segments, self.segments = self.segments, []
        for segment in segments:
            self.pool.give_back(segment)

    def _placed(self, place: _frames.Place) -> _frames.Place:
        return place if place[0] > 0 else (self.segments[-place[0]].id, *place[1:])

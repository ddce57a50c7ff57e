"""Where the arrays of an operation lie, so that the JVM can reach them."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _arrays, _frames
from ._memory import Segment, SegmentPool, aligned


class Part:
    """An array of an operation, and what becomes of it."""

    __slots__ = ("read", "view", "written")

    def __init__(self, value: Any, read: bool, written: bool) -> None:
        self.view = _arrays.view_of(value)
        self.read = read
        self.written = written
        if written and not self.view.array.flags.writeable:
            raise ValueError("The operation writes its result to an array that is read-only")


class Staged:
    """The arrays of one operation, and where the JVM finds them.

    Arrays that lie in the group's memory stay there; the others share one segment.
    """

    __slots__ = ("back", "inputs", "outputs", "own", "pool", "segment", "used")

    def __init__(self, pool: SegmentPool, outputs: Sequence[Part], inputs: Sequence[Part]) -> None:
        self.pool = pool
        self.segment: Optional[Segment] = None
        self.used = 0
        #: Arrays in the group's memory, which would be given to others if nobody held them.
        self.own: List[Any] = []
        #: What is copied to an array when the operation is done: array, bytes of the segment.
        self.back: List[Tuple[Any, Any]] = []
        moved: List[Tuple[Part, int]] = []
        self.outputs: List[_frames.Place] = [self._place(each, moved) for each in outputs]
        self.inputs: List[_frames.Place] = [self._place(each, moved) for each in inputs]
        if moved:
            self._fill(moved)

    def _place(self, part: Part, moved: List[Tuple[Part, int]]) -> _frames.Place:
        array = part.view.array
        own = self.pool.find(array)
        if own is not None:
            self.own.append(array)
            return (own[0].id, part.view.code, own[1], array.size, array.shape)
        offset = self.used
        moved.append((part, offset))
        self.used += aligned(array.nbytes)
        return (0, part.view.code, offset, array.size, array.shape)

    def _fill(self, moved: Sequence[Tuple[Part, int]]) -> None:
        segment = self.segment = self.pool.take(max(1, self.used))
        self.outputs = [_placed(each, segment.id) for each in self.outputs]
        self.inputs = [_placed(each, segment.id) for each in self.inputs]
        for part, offset in moved:
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
        if self.segment is not None and self.back:
            self.segment.receive(0, self.used)
        for array, memory in self.back:
            np.copyto(array, memory)
        self.back = []
        self.release()

    def release(self) -> None:
        """Give the memory back, which nobody uses any more."""
        self.own = []
        segment, self.segment = self.segment, None
        if segment is not None:
            self.pool.give_back(segment)


def _placed(place: _frames.Place, segment: int) -> _frames.Place:
    return place if place[0] else (segment, *place[1:])

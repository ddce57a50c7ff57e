"""The layouts of small operations in memory that the executor's JVM sees.

A program repeats its small operations, with other contents, so the place of each array and its
encoding are found once. Then a call costs little more than the copies and the two messages.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Deque, Dict, List, Optional, Sequence, Tuple

from . import _frames, _memory
from ._memory import Segment, SegmentPool, aligned
from ._staging import Operand

#: The memory of the arrays of one operation; an operation that needs more is not small.
MOST_BYTES = _memory.SMALLEST

#: The most layouts that one scratch segment keeps.
_MOST_LAYOUTS = 64


class Layout:
    """The places of an operation's arrays, for operations on arrays of the same form."""

    __slots__ = ("_back", "_there", "tensors")

    def __init__(
        self,
        tensors: bytes,
        there: Sequence[Tuple[int, Any]],
        back: Sequence[Tuple[int, Any]],
    ) -> None:
        #: The encoded tensors.
        self.tensors = tensors
        #: The arrays that the operation reads and writes: the index, and its place.
        self._there = there
        self._back = back

    def copy_there(self, operands: Sequence[Operand]) -> None:
        """Copy what the operation reads to the memory that the JVM sees."""
        for index, memory in self._there:
            memory[...] = operands[index].view.array

    def copy_back(self, operands: Sequence[Operand]) -> None:
        """Copy the results to the caller's arrays."""
        for index, memory in self._back:
            operands[index].view.array[...] = memory


class Scratch:
    """A segment for the arrays of one operation at a time."""

    __slots__ = ("_layouts", "_pool", "_segment")

    def __init__(self, pool: SegmentPool, segment: Segment) -> None:
        self._pool = pool
        self._segment = segment
        self._layouts: Dict[Tuple[Any, ...], Layout] = {}

    def layout(self, operands: Sequence[Operand]) -> Optional[Layout]:
        """Return the layout for these arrays; None if they are too large."""
        find = self._pool.find
        form: List[Any] = []
        for each in operands:
            view = each.view
            array = view.array
            own = find(array)
            place = None if own is None else (own[0].id, own[1])
            form += (array.dtype, array.shape, view.code, each.read, each.written, place)
        key = tuple(form)
        found = self._layouts.get(key)
        if found is None:
            found = self._arrange(operands, key[5::6])
            if found is not None:
                if len(self._layouts) == _MOST_LAYOUTS:
                    self._layouts.clear()
                self._layouts[key] = found
        return found

    def _arrange(
        self, operands: Sequence[Operand], places: Sequence[Optional[Tuple[int, int]]]
    ) -> Optional[Layout]:
        tensors = b""
        there: List[Tuple[int, Any]] = []
        back: List[Tuple[int, Any]] = []
        used = 0
        for index, (operand, place) in enumerate(zip(operands, places)):
            array = operand.view.array
            segment, offset = (self._segment.id, used) if place is None else place
            if place is None:
                used += aligned(array.nbytes)
                if used > MOST_BYTES:
                    return None
                memory = self._segment.array(offset, array)
                if operand.read:
                    there.append((index, memory))
                if operand.written:
                    back.append((index, memory))
            tensors += _frames.pack_tensor(
                (segment, operand.view.code, offset, array.size, array.shape)
            )
        return Layout(tensors, there, back)


class Layouts:
    """The scratch segments of a group: one for each thread that is in an operation. Thread-safe."""

    def __init__(self, pool: SegmentPool) -> None:
        self._pool = pool
        self._free: Deque[Scratch] = deque()
        self._closed = False

    def take(self) -> Optional[Scratch]:
        """Take a scratch segment; None if the JVM and this process have no memory in common."""
        try:
            return self._free.pop()
        except IndexError:
            pass
        if not self._pool.can_map:
            return None
        segment = self._pool.take(MOST_BYTES)
        if segment.mapped:
            return Scratch(self._pool, segment)
        self._pool.give_back(segment)
        return None

    def give_back(self, scratch: Scratch) -> None:
        """Put a scratch segment that nobody uses back."""
        self._free.append(scratch)
        if self._closed:
            self._free.clear()

    def close(self) -> None:
        """Release the segments."""
        self._closed = True
        self._free.clear()

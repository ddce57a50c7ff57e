"""Memory that the Python processes of all ranks of a group have mapped, if they are on one host."""

from __future__ import annotations

import struct
import threading
from typing import List, NamedTuple, Optional

from . import _codes, _memory
from ._frames import Request
from ._memory import Segment
from ._task import Task


class Place(NamedTuple):
    """Where another process finds a segment."""

    path: str
    #: The bytes with which the file begins.
    nonce: bytes
    begin: int
    size: int

    def map(self, task: Task, id_: int = 0) -> Segment:
        """Map the segment.

        :param id_: its number in this rank's JVM, if it is this rank's own
        :raises OSError: if it cannot be opened here, or is another file
        :raises ValueError: if it is too short
        """
        memory = _memory.map_file(self.path, self.nonce, self.begin, self.size)
        return Segment(task, id_, self.size, memory, self.begin)


class HostSegment(NamedTuple):
    """A segment that this rank's JVM has allocated for all ranks of its host."""

    segment: Segment
    place: Place


class HostSegments:
    """The segments that the rank has made for a group's ranks. Thread-safe.

    They are used again, and freed with the group. Their files have no name, so that a killed
    process leaves nothing behind.
    """

    def __init__(self, task: Task, group: int) -> None:
        self._task = task
        self._group = group
        self._lock = threading.Lock()
        self._free: List[HostSegment] = []
        self._closed = False
        task.pools.add(self)

    def take(self, size: int) -> Optional[HostSegment]:
        """Take a segment; return None if the ranks may not share memory, or there is no room.

        Another rank may still read one that was used before, until all ranks have taken theirs.
        """
        with self._lock:
            for i, each in enumerate(self._free):
                if each.place.size == size:
                    return self._free.pop(i)
        reply = self._task.connection().call(
            Request(_codes.ALLOCATE_FOR_RANKS, group=self._group, body=struct.pack("<Q", size))
        )
        id_, path = reply.next_int(), reply.next_text()
        if not path:
            return None
        place = Place(path, reply.next_bytes(), reply.next_long(), size)
        try:
            return HostSegment(place.map(self._task, id_), place)
        except (OSError, ValueError):
            return None

    def give_back(self, segment: HostSegment) -> None:
        """Put back a segment that this rank does not use any more."""
        with self._lock:
            if not self._closed:
                self._free.append(segment)

    def close(self) -> None:
        """Release all segments."""
        with self._lock:
            self._closed = True
            self._free.clear()

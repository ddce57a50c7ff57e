"""Memory for tests without a JVM."""

import mmap
import weakref
from types import SimpleNamespace

from spark_collectives import _memory


class Pool(_memory.SegmentPool):
    """A pool whose segments are memory of this process."""

    def __init__(self, can_map=True):
        super().__init__(SimpleNamespace(pools=weakref.WeakSet(), can_map=can_map), 0)
        self.made = 0

    def _allocate(self, size, scratch):
        self.made += 1
        return _memory.Segment(self._task, self.made, size, mmap.mmap(-1, size), 0, scratch)

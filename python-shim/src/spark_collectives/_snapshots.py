"""The checkpoints of a loop."""

from __future__ import annotations

import pickle
from typing import Any, Optional, Tuple

import numpy as np

from .objects import pickled
from .process_group import ProcessGroup

#: The names of the checkpoints: the head, which says where the snapshot is, and its two places.
_HEAD = "iterations"


class Snapshots:
    """Keeps what rank 0 needs to go on as checkpoints of the group.

    A checkpoint is restored into arrays of known size, and a snapshot may have any. So its size is
    in a checkpoint of its own, the head, which also says where the snapshot is: in one of two
    places, in turn. If ranks are lost between the two, the head still leads to the snapshot before.
    """

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        #: The iteration, the size of the snapshot in bytes, and its place.
        self._head = np.zeros(3, np.int64)

    def save(self, iteration: int, snapshot: Any) -> None:
        """Keep the snapshot of rank 0, of an iteration that all ranks have done."""
        content = pickled(snapshot) if self._group.rank == 0 else b""
        head = np.array([iteration, len(content), 1 - self._head[2]])
        array = np.frombuffer(content, np.uint8)
        self._group.checkpoint(f"{_HEAD}/{head[2]}", [array])
        self._group.checkpoint(_HEAD, [head])
        self._head = head

    def restore(self) -> Optional[Tuple[int, Any]]:
        """Return the last iteration that was kept, and on rank 0 the snapshot; None without one."""
        if not self._group.restore(_HEAD, [self._head]):
            return None
        iteration, size, place = (int(each) for each in self._head)
        content = np.empty(size, np.uint8)
        if not self._group.restore(f"{_HEAD}/{place}", [content]):
            raise RuntimeError(
                f"The checkpoint of iteration {iteration} is not where its head says"
            )
        return iteration, pickle.loads(content.data) if self._group.rank == 0 else None

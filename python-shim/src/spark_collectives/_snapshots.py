"""The checkpoints of a loop."""

from __future__ import annotations

import pickle
from typing import Any, Optional, Tuple, Union

import numpy as np

from ._checkpoint_failures import CheckpointFailures
from .errors import CollectiveError
from .objects import pickled
from .process_group import ProcessGroup

#: The names of the checkpoints: the head, which says where the snapshot is, and its two places.
_HEAD = "iterations"

_ANEW = "restored, and the iterations begin anew"


class Snapshots:
    """Keeps what rank 0 needs to go on as checkpoints of the group.

    A checkpoint is restored into arrays of known size, and a snapshot may have any. So its size is
    in a checkpoint of its own, the head, which also says where the snapshot is: in one of two
    places, in turn. If ranks are lost between the two, the head still leads to the snapshot before.

    A snapshot that cannot be kept or restored costs a line in the log, and never the iterations.
    """

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        #: The iteration, the size of the snapshot in bytes, and its place.
        self._head = np.zeros(3, np.int64)
        self._failures = CheckpointFailures(group, "iterations")

    def save(self, iteration: int, snapshot: Any) -> None:
        """Keep the snapshot of rank 0, of an iteration that all ranks have done.

        If it cannot be kept, the one before it stays.
        """
        content: Union[bytes, memoryview, None] = b""
        if self._group.rank == 0:
            content = self._content(snapshot)
        if not self._on_all_ranks(content is not None) or content is None:
            return
        head = np.array([iteration, len(content), 1 - self._head[2]])
        array = np.frombuffer(content, np.uint8)
        try:
            self._group.checkpoint(f"{_HEAD}/{head[2]}", [array])
            self._group.checkpoint(_HEAD, [head])
            self._head = head
        except CollectiveError as error:
            self._failures.pass_over("kept", error)

    def _content(self, snapshot: Any) -> Optional[memoryview]:
        try:
            return pickled(snapshot)
        except Exception as error:  # Any that the state's own code raises.
            self._failures.pass_over("kept", error)
            return None

    def restore(self) -> Optional[Tuple[int, Any]]:
        """Return the last iteration that was kept, and on rank 0 the snapshot.

        None if there is none, or if it cannot be read.
        """
        try:
            found = self._read()
        except CollectiveError as error:
            self._failures.pass_over(_ANEW, error)
            return None
        if found is None:
            return None
        snapshot, is_read = None, True
        if self._group.rank == 0:
            try:
                snapshot = pickle.loads(found)
            except Exception as error:  # Any that the state's own code raises.
                self._failures.pass_over(_ANEW, error)
                is_read = False
        return (int(self._head[0]), snapshot) if self._on_all_ranks(is_read) else None

    def _read(self) -> Optional[memoryview]:
        head = np.zeros_like(self._head)
        if not self._group.restore(_HEAD, [head]):
            return None
        self._head = head
        iteration, size, place = (int(each) for each in head)
        content = np.empty(size, np.uint8)
        if not self._group.restore(f"{_HEAD}/{place}", [content]):
            raise CollectiveError(
                f"The checkpoint of iteration {iteration} is not where its head says"
            )
        return content.data

    def _on_all_ranks(self, on_rank_0: bool) -> bool:
        """Return rank 0's argument. A collective."""
        flag = np.array([on_rank_0], np.int64)
        self._group.broadcast(flag, 0)
        return bool(flag[0])

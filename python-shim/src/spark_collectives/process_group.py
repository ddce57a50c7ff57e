"""A group of ranks, as the task of one rank sees it."""

from __future__ import annotations

import operator
import struct
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _checkpoints, _codes, _debug_level, _frames
from ._frames import Request
from ._group_operations import GroupOperations
from ._numbering import Numbering
from ._operations import Operations
from ._task import Task
from .flight_recorder import FlightRecorder
from .store import Store
from .work import Seconds, millis


class ProcessGroup(GroupOperations):
    """A group of ranks that communicate.

    The methods take the group's ranks, 0 to ``size - 1``; the functions of the package take the
    arguments and global ranks of ``torch.distributed``, and say of which sizes the arrays are.

    ``rank`` is this task's rank, ``size`` the number of ranks, ``name`` the group's unique name,
    ``global_ranks`` each rank's rank in the world group, and ``backend`` the backend's name.

    All ranks must call the same collectives in the same order, with arrays of the same type and
    number of elements. With ``async_op=True`` an operation returns a :class:`Work` at once; else it
    blocks until it is done. ``timeout``, in seconds or a ``timedelta``, replaces the group's. When
    a rank fails or leaves, or an operation misses its deadline, every pending and future operation
    raises on every rank. Thread-safe; each thread has a connection of its own.
    """

    def __init__(
        self,
        task: Task,
        reply: _frames.Reply,
        timeout_ms: int = 0,
        backend: str = "spark",
        numbering: Optional[Numbering] = None,
    ) -> None:
        self._task = task
        self._numbering = numbering or task.numbering
        self._id = reply.next_int()
        self.rank: int = reply.next_int()
        self.size: int = reply.next_int()
        group_ms = reply.next_long()
        self.name: str = reply.next_text()
        self.global_ranks: Tuple[int, ...] = self._numbering.to_global(reply.next_ints())
        self.backend = backend
        self._operations = Operations(task, self._id, timeout_ms or group_ms)
        self._closed = False
        self._places: Optional[Tuple[int, int, List[str]]] = None

    def __repr__(self) -> str:
        return f"ProcessGroup({self.name!r}, rank {self.rank} of {self.size})"

    @property
    def timeout(self) -> float:
        """The default timeout of an operation, in seconds."""
        return self._operations.timeout_ms / 1000.0

    def set_timeout(self, timeout: Seconds) -> None:
        """Set the default timeout of the operations of this rank that begin from now on.

        Groups made from this one begin with the timeout with which it was made.
        """
        self._operations.timeout_ms = millis(timeout)

    # Subgroups

    def new_group(
        self,
        ranks: Sequence[int] = (),
        *,
        timeout: Optional[Seconds] = None,
        use_local_synchronization: bool = False,
        description: str = "",
        backend: str = "",
    ) -> Optional[ProcessGroup]:
        """Create a group of some ranks; return None on all other ranks.

        Takes one call of the store, and does not wait for other ranks.

        :param ranks: global ranks, in the order of their ranks in the new group; none means all
        :param use_local_synchronization: whether only the members call this
        :param backend: as :func:`spark_collectives.init_process_group` takes it; by default as here
        :raises ValueError: if a rank is not in this group or is named twice, or if other ranks
            name other members
        """
        own = self._numbering.to_original(ranks)
        return self._group_of(
            self._operations.call(
                Request(
                    _codes.NEW_GROUP,
                    flags=_codes.CHOICE if use_local_synchronization else 0,
                    timeout_ms=millis(timeout),
                    body=_frames.pack_text(description)
                    + _frames.pack_ints(own)
                    + _debug_level.pack_options(backend),
                ),
                self._patience_for_others(),
            ),
            backend,
        )

    def new_local_group(self) -> ProcessGroup:
        """Create a group of the ranks of this rank's host; called by all ranks.

        This rank's rank in it is its :attr:`local_rank` here.
        """
        group = self._group_of(
            self._operations.call(
                Request(_codes.NEW_LOCAL_GROUP, body=_debug_level.pack_options()),
                self._patience_for_others(),
            )
        )
        assert group is not None
        return group

    def split(self, color: int, key: int = 0) -> Optional[ProcessGroup]:
        """Split the group as ``MPI_Comm_split`` does; return None for a negative colour.

        A collective: called by all ranks, and waits for all.
        """
        return self._group_of(
            self._operations.call(
                Request(_codes.SPLIT, peer=color, tag=key, body=_debug_level.pack_options()),
                self._patience_for_others(),
            )
        )

    def shrink(self, excluded: Sequence[int], *, abort: bool = False) -> ProcessGroup:
        """Create a group without some ranks. A group that has failed can still do this.

        All ranks that remain call it, with the same arguments. This group must still be closed.

        :param excluded: at least one rank, as ranks of this group
        :param abort: whether to abort this group first, on every rank, which ends operations that
            wait for an excluded rank
        :raises ValueError: if a rank is named twice or is not in this group, or is this rank
        """
        group = self._group_of(
            self._operations.call(
                Request(
                    _codes.SHRINK,
                    flags=_codes.CHOICE if abort else 0,
                    body=_frames.pack_ints(list(excluded)) + _debug_level.pack_options(),
                ),
                self._patience_for_others(),
            )
        )
        assert group is not None
        return group

    def _patience_for_others(self) -> float:
        operations = self._operations
        return operations.patience(operations.timeout_ms) + self._task.store_wait

    def _group_of(self, reply: _frames.Reply, backend: str = "") -> Optional[ProcessGroup]:
        if reply.ends_negative():
            return None
        return ProcessGroup(
            self._task, reply, backend=backend or self.backend, numbering=self._numbering
        )

    # Where the ranks are

    @property
    def local_rank(self) -> int:
        """The number of this rank among the ranks of this group on its host, from 0."""
        return self._where()[0]

    @property
    def local_size(self) -> int:
        """How many ranks of this group are on this rank's host, itself included."""
        return self._where()[1]

    @property
    def hosts(self) -> List[str]:
        """The host of each rank: the address under which other ranks reach it."""
        return list(self._where()[2])

    def _where(self) -> Tuple[int, int, List[str]]:
        if self._places is None:
            reply = self._operations.call(Request(_codes.WHERE))
            self._places = reply.next_int(), reply.next_int(), reply.next_texts()
        return self._places

    # What is shown of the group

    def flight_recorder(self) -> FlightRecorder:
        """Return this rank's recorder of recent operations."""
        return FlightRecorder(self._operations, self.name)

    def progress(self, done: int, total: int, text: str = "") -> None:
        """Say how far this rank's program has come.

        Shown in the tab "Collectives" of Spark's UI and in the driver's metrics, of the lowest rank
        that calls this. It goes to the driver with this rank's next statistics; nothing waits for
        it.

        :param done: how much is done, from 0 to ``total``
        :param total: such as the number of epochs; 1 or more
        :param text: such as the loss; cut after 200 characters
        :raises TypeError: if ``done`` or ``total`` is not an integer
        :raises ValueError: if ``total`` is less than 1, or ``done`` is not from 0 to ``total``
        :raises GroupClosedError: if the group is closed
        """
        self._operations.call(
            Request(
                _codes.PROGRESS,
                body=struct.pack("<qq", operator.index(done), operator.index(total))
                + _frames.pack_text(text),
            )
        )

    # The life of the group

    def abort(self, reason: str) -> None:
        """Abort the group on every rank; its operations then raise with this reason."""
        self._operations.call(Request(_codes.ABORT_GROUP, body=_frames.pack_text(reason)))
        self._operations.aborted = True

    def extend_timeout(self, extra: Seconds) -> None:
        """Give more time to the operations that begin from now on, until the first is done."""
        extra_ms = millis(extra)
        self._operations.extra_ms += extra_ms
        self._operations.call(Request(_codes.EXTEND_TIMEOUT, timeout_ms=extra_ms))

    def close(self) -> None:
        """Leave the group, after waiting for this rank's pending operations. Idempotent."""
        if not self._closed:
            self._closed = True
            if not self._task.can_map:
                self._await_results()
            self._operations.call(Request(_codes.CLOSE_GROUP))
            # The works of groups that were made from this one have ended, too.
            self._task.settle()
            self._operations.close()

    def _await_results(self) -> None:
        """Wait for the works whose results the JVM releases with the group, to fetch these."""
        if self is self._task.joined:
            self._task.wait()
        else:
            self._operations.pending.wait()

    # The group's memory and state

    def store(self) -> Store:
        """Return the group's part of the driver's store, for keys of the application."""
        return Store(self._task, self._id)

    def empty(self, shape: Any, dtype: Any = np.float32) -> Any:
        """Create an array in memory that operations of this group use without a copy.

        For arrays that are used again and again: their bytes are rounded up to a power of two. The
        contents are undefined. The array may outlive the group.
        """
        extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        return self._operations.memory.empty(tuple(int(each) for each in extents), np.dtype(dtype))

    def zeros(self, shape: Any, dtype: Any = np.float32) -> Any:
        """Create an array of zeros, in memory as :meth:`empty` does."""
        array = self.empty(shape, dtype)
        array.fill(0)
        return array

    def checkpoint(
        self,
        name: str,
        arrays: Sequence[Any],
        *,
        replicated: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> None:
        """Save the arrays in the driver for later attempts of the stage, all or none of them.

        Called by all ranks. With ``replicated``, those of rank 0 are saved for all ranks.
        """
        _checkpoints.save(self._operations, name, arrays, replicated, timeout)

    def restore(
        self, name: str, arrays: Sequence[Any], *, timeout: Optional[Seconds] = None
    ) -> bool:
        """Overwrite the arrays with the last checkpoint of this name; return False without one."""
        return _checkpoints.restore(self._operations, name, arrays, timeout)

"""A group of ranks, as the task of one rank sees it."""

from __future__ import annotations

import operator
import struct
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _checkpoints, _codes, _frames, _parts
from ._operations import Operations
from ._staging import Operand, reads, updates, writes
from ._task import Task
from .reduce_op import ReduceOp
from .store import Store
from .work import Seconds, Work, millis


class ProcessGroup:
    """A group of ranks that communicate.

    Ranks are those of the group, 0 to ``size - 1``. The methods follow the Java library's
    ``ProcessGroup``; the functions of the package have the names, the arguments and the global
    ranks of ``torch.distributed``.

    Collectives must be called by all ranks of the group, in the same order, with arrays of the same
    type and number of elements. Arrays are numpy's, or CPU tensors of torch; operations read and
    write their memory. With ``async_op=True`` an operation returns a :class:`Work` at once; else it
    returns when it is done. ``timeout`` is for this operation, instead of the group's.

    When a rank fails, is killed, or leaves while others wait for it, or an operation misses its
    deadline, every pending and future operation of the group raises on every rank.

    Several threads may use a group; each has a connection of its own.
    """

    def __init__(self, task: Task, reply: _frames.Reply, timeout_ms: int = 0) -> None:
        self._task = task
        self._id = reply.next_int()
        self.rank: int = reply.next_int()
        self.size: int = reply.next_int()
        group_ms = reply.next_long()
        self._timeout_ms = timeout_ms or group_ms
        #: The unique name.
        self.name: str = reply.next_text()
        #: The global rank of each rank of the group.
        self.global_ranks: Tuple[int, ...] = tuple(reply.next_ints())
        self._operations = Operations(task, self._id, self._timeout_ms)
        self._closed = False

    def __repr__(self) -> str:
        return f"ProcessGroup({self.name!r}, rank {self.rank} of {self.size})"

    @property
    def timeout(self) -> float:
        """The default timeout of an operation, in seconds."""
        return self._timeout_ms / 1000.0

    # Collectives

    def broadcast(
        self, array: Any, root: int, *, async_op: bool = False, timeout: Optional[Seconds] = None
    ) -> Optional[Work]:
        """Send the array of rank ``root`` to all other ranks, which overwrite theirs."""
        arrays = reads(array) if self.rank == root else writes(array)
        return self._operations.begin(_codes.BROADCAST, arrays, [], async_op, timeout, peer=root)

    def all_reduce(
        self,
        array: Any,
        op: ReduceOp = ReduceOp.SUM,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Reduce the array over all ranks, in place, to the same bits on every rank."""
        return _parts.all_reduce(
            self._operations, Operand(array, True, True), op, async_op, timeout
        )

    def all_reduce_coalesced(
        self,
        arrays: Sequence[Any],
        op: ReduceOp = ReduceOp.SUM,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Reduce each of the arrays over all ranks, in place, as one operation."""
        return self._operations.begin(
            _codes.ALL_REDUCE_COALESCED, updates(*arrays), [], async_op, timeout, op=op
        )

    def reduce(
        self,
        array: Any,
        root: int,
        op: ReduceOp = ReduceOp.SUM,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Reduce the array over all ranks, in place at ``root``; elsewhere it is only read."""
        arrays = updates(array) if self.rank == root else reads(array)
        return self._operations.begin(
            _codes.REDUCE, arrays, [], async_op, timeout, peer=root, op=op
        )

    def all_gather(
        self,
        outputs: Sequence[Any],
        array: Any,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Gather the arrays of all ranks on all ranks; sizes may differ by rank."""
        return self._operations.begin(
            _codes.ALL_GATHER, writes(*outputs), reads(array), async_op, timeout
        )

    def all_gather_into(
        self, output: Any, array: Any, *, async_op: bool = False, timeout: Optional[Seconds] = None
    ) -> Optional[Work]:
        """Gather the arrays of all ranks, in rank order, in one array on all ranks."""
        return self._operations.begin(
            _codes.ALL_GATHER_INTO, writes(output), reads(array), async_op, timeout
        )

    def gather(
        self,
        outputs: Sequence[Any],
        array: Any,
        root: int,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Gather the arrays of all ranks at ``root``; elsewhere ``outputs`` is empty."""
        return self._operations.begin(
            _codes.GATHER, writes(*outputs), reads(array), async_op, timeout, peer=root
        )

    def scatter(
        self,
        output: Any,
        arrays: Sequence[Any],
        root: int,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Send each rank one of the arrays of ``root``; elsewhere ``arrays`` is empty."""
        return self._operations.begin(
            _codes.SCATTER, writes(output), reads(*arrays), async_op, timeout, peer=root
        )

    def reduce_scatter(
        self,
        output: Any,
        arrays: Sequence[Any],
        op: ReduceOp = ReduceOp.SUM,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Reduce the arrays over all ranks; each rank gets the one at its index."""
        return self._operations.begin(
            _codes.REDUCE_SCATTER, writes(output), reads(*arrays), async_op, timeout, op=op
        )

    def reduce_scatter_into(
        self,
        output: Any,
        array: Any,
        op: ReduceOp = ReduceOp.SUM,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Reduce the array over all ranks; each rank gets one part of it, in rank order."""
        return self._operations.begin(
            _codes.REDUCE_SCATTER_INTO, writes(output), reads(array), async_op, timeout, op=op
        )

    def all_to_all_into(
        self,
        output: Any,
        array: Any,
        output_splits: Optional[Sequence[int]] = None,
        input_splits: Optional[Sequence[int]] = None,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Send parts of the array, one to each rank, and receive one from each.

        The splits count rows of the first dimension; without them, the parts are equal.
        """
        return self._operations.begin_all_to_all(
            output, array, output_splits, input_splits, async_op, timeout
        )

    def all_to_all(
        self,
        outputs: Sequence[Any],
        arrays: Sequence[Any],
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Send each rank one of the arrays, and receive one from each."""
        return self._operations.begin(
            _codes.ALL_TO_ALL, writes(*outputs), reads(*arrays), async_op, timeout
        )

    def barrier(
        self, *, async_op: bool = False, timeout: Optional[Seconds] = None
    ) -> Optional[Work]:
        """Wait until all ranks have called it; with ``async_op``, the returned work waits."""
        return self._operations.begin(_codes.BARRIER, [], [], async_op, timeout)

    def monitored_barrier(
        self, timeout: Optional[Seconds] = None, wait_all_ranks: bool = False
    ) -> None:
        """Wait for all ranks; raise an error that names the missing ones. The group goes on."""
        self._operations.call(
            _codes.MONITORED_BARRIER,
            flags=_codes.CHOICE if wait_all_ranks else 0,
            timeout_ms=millis(timeout) or self._timeout_ms,
        )

    # Point-to-point messages

    def send(
        self,
        array: Any,
        destination: int,
        tag: int = 0,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Send the array to one rank."""
        return self._operations.begin(
            _codes.SEND, [], reads(array), async_op, timeout, peer=destination, tag=tag
        )

    def recv(
        self,
        array: Any,
        source: Optional[int] = None,
        tag: int = 0,
        *,
        timeout: Optional[Seconds] = None,
    ) -> int:
        """Receive from one rank, or from whichever sends first; return the rank that sent."""
        work = self.irecv(array, source, tag, timeout=timeout)
        work.wait()
        return work.source_rank()

    def irecv(
        self,
        array: Any,
        source: Optional[int] = None,
        tag: int = 0,
        *,
        timeout: Optional[Seconds] = None,
    ) -> Work:
        """Begin to receive from one rank, or from whichever sends first."""
        code, peer = (_codes.RECV_ANY, -1) if source is None else (_codes.RECV, source)
        work = self._operations.begin(code, writes(array), [], True, timeout, peer=peer, tag=tag)
        assert work is not None
        return work

    def batch(
        self, operations: Sequence[Tuple[bool, Any, int, int]], *, timeout: Optional[Seconds] = None
    ) -> List[Work]:
        """Begin several messages; each is (whether it is sent, its array, the peer, the tag)."""
        return self._operations.begin_batch(operations, millis(timeout) or self._timeout_ms)

    # Subgroups

    def new_group(
        self,
        ranks: Sequence[int] = (),
        *,
        timeout: Optional[Seconds] = None,
        use_local_synchronization: bool = False,
        description: str = "",
    ) -> Optional[ProcessGroup]:
        """Create a group of some ranks, given by global rank; return None on all other ranks."""
        return self._group_of(
            self._operations.call(
                _codes.NEW_GROUP,
                flags=_codes.CHOICE if use_local_synchronization else 0,
                timeout_ms=millis(timeout),
                body=_frames.pack_text(description) + _frames.pack_ints(list(ranks)),
                patience=self._operations.patience(self._timeout_ms) + self._task.store_wait,
            )
        )

    def split(self, color: int, key: int = 0) -> Optional[ProcessGroup]:
        """Split the group as ``MPI_Comm_split`` does; return None for a negative colour."""
        return self._group_of(self._operations.call(_codes.SPLIT, peer=color, tag=key))

    def shrink(self, excluded: Sequence[int]) -> ProcessGroup:
        """Create a group without some ranks. A group that has failed can still do this."""
        group = self._group_of(
            self._operations.call(_codes.SHRINK, body=_frames.pack_ints(list(excluded)))
        )
        assert group is not None
        return group

    def _group_of(self, reply: _frames.Reply) -> Optional[ProcessGroup]:
        return None if reply.ends_negative() else ProcessGroup(self._task, reply)

    # What is shown of the group

    def progress(self, done: int, total: int, text: str = "") -> None:
        """Say how far this rank's program has come.

        The tab "Collectives" in Spark's UI shows it, and the driver's metrics have the share that
        is done. It replaces what was said before, and goes to the driver with this rank's next
        statistics; nothing waits for it. If several ranks call this, the lowest of them is shown.

        :param done: how much is done, from 0 to ``total``
        :param total: of how much, such as the number of epochs; 1 or more
        :param text: anything else, such as the loss; cut after 200 characters
        :raises TypeError: if ``done`` or ``total`` is not an integer
        :raises ValueError: if ``total`` is less than 1, or ``done`` is not from 0 to ``total``
        :raises GroupClosedError: if the group is closed
        """
        self._operations.call(
            _codes.PROGRESS,
            body=struct.pack("<qq", operator.index(done), operator.index(total))
            + _frames.pack_text(text),
        )

    # The life of the group

    def abort(self, reason: str) -> None:
        """Abort the group on every rank; its operations then raise with this reason."""
        self._operations.call(_codes.ABORT_GROUP, body=_frames.pack_text(reason))

    def extend_timeout(self, extra: Seconds) -> None:
        """Give more time to the operations that begin from now on, until the first is done."""
        extra_ms = millis(extra)
        self._operations.extra_ms += extra_ms
        self._operations.call(_codes.EXTEND_TIMEOUT, timeout_ms=extra_ms)

    def close(self) -> None:
        """Leave the group, after waiting for this rank's pending operations. Idempotent."""
        if not self._closed:
            self._closed = True
            self._operations.call(_codes.CLOSE_GROUP)
            self._operations.close()

    # The group's memory and state

    def store(self) -> Store:
        """Return the group's part of the driver's store, for keys of the application."""
        return Store(self._task, self._id)

    def empty(self, shape: Any, dtype: Any = np.float32) -> Any:
        """Create an array in memory that operations of this group use without a copy.

        Use it for arrays that are used again and again: their number of bytes is rounded up to a
        power of two. The contents are undefined. The array may outlive the group.
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

        Called by all ranks. With ``replicated``, all ranks have the same arrays, and those of
        rank 0 are saved.
        """
        _checkpoints.save(self._operations, name, arrays, replicated, timeout)

    def restore(
        self, name: str, arrays: Sequence[Any], *, timeout: Optional[Seconds] = None
    ) -> bool:
        """Overwrite the arrays with the last checkpoint of this name; return False without one."""
        return _checkpoints.restore(self._operations, name, arrays, timeout)

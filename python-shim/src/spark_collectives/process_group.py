"""A group of ranks, as the task of one rank sees it."""

from __future__ import annotations

import struct
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _codes, _frames, _parts
from ._operations import Operations
from ._staging import Part, cut
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
    write their memory. What returns a :class:`Work` does so with ``async_op=True`` only; else it
    returns when the operation is done. ``timeout`` is for this operation, instead of the group's.

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
        """How many seconds an operation may take unless a call says otherwise."""
        return self._timeout_ms / 1000.0

    # Collectives

    def broadcast(
        self,
        array: Any,
        root: int,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Send the array of rank ``root`` to all ranks; elsewhere it is overwritten."""
        here = self.rank == root
        outputs = [Part(array, here, not here)]
        return self._operations.begin(_codes.BROADCAST, outputs, [], async_op, timeout, peer=root)

    def all_reduce(
        self,
        array: Any,
        op: ReduceOp = ReduceOp.SUM,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Reduce the array over all ranks, in place, to the same bits on every rank."""
        return _parts.all_reduce(self._operations, Part(array, True, True), op, async_op, timeout)

    def all_reduce_coalesced(
        self,
        arrays: Sequence[Any],
        op: ReduceOp = ReduceOp.SUM,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Reduce each of the arrays over all ranks, in place, as one operation."""
        outputs = [Part(each, True, True) for each in arrays]
        return self._operations.begin(
            _codes.ALL_REDUCE_COALESCED, outputs, [], async_op, timeout, op=op
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
        outputs = [Part(array, True, self.rank == root)]
        return self._operations.begin(
            _codes.REDUCE, outputs, [], async_op, timeout, peer=root, op=op
        )

    def all_gather(
        self,
        outputs: Sequence[Any],
        array: Any,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Gather the array of all ranks on all ranks; sizes may differ by rank."""
        return self._operations.begin(
            _codes.ALL_GATHER,
            [Part(each, False, True) for each in outputs],
            [Part(array, True, False)],
            async_op,
            timeout,
        )

    def all_gather_into(
        self,
        output: Any,
        array: Any,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Gather the array of all ranks, in rank order, in one array on all ranks."""
        return self._operations.begin(
            _codes.ALL_GATHER_INTO,
            [Part(output, False, True)],
            [Part(array, True, False)],
            async_op,
            timeout,
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
        """Gather the array of all ranks at ``root``; elsewhere ``outputs`` is empty."""
        return self._operations.begin(
            _codes.GATHER,
            [Part(each, False, True) for each in outputs],
            [Part(array, True, False)],
            async_op,
            timeout,
            peer=root,
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
        """Give each rank one of the arrays of ``root``; elsewhere ``arrays`` is empty."""
        return self._operations.begin(
            _codes.SCATTER,
            [Part(output, False, True)],
            [Part(each, True, False) for each in arrays],
            async_op,
            timeout,
            peer=root,
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
        """Reduce the arrays, one for each rank, over all ranks, and leave each rank its own."""
        return self._operations.begin(
            _codes.REDUCE_SCATTER,
            [Part(output, False, True)],
            [Part(each, True, False) for each in arrays],
            async_op,
            timeout,
            op=op,
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
        """Reduce the array over all ranks, and leave each rank its part, in rank order."""
        return self._operations.begin(
            _codes.REDUCE_SCATTER_INTO,
            [Part(output, False, True)],
            [Part(array, True, False)],
            async_op,
            timeout,
            op=op,
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
        out = Part(output, False, True)
        in_ = Part(array, True, False)
        body = _frames.pack_longs(_rows(output_splits, out.view.array)) + _frames.pack_longs(
            _rows(input_splits, in_.view.array)
        )
        return self._operations.begin(
            _codes.ALL_TO_ALL_INTO, [out], [in_], async_op, timeout, body=body
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
            _codes.ALL_TO_ALL,
            [Part(each, False, True) for each in outputs],
            [Part(each, True, False) for each in arrays],
            async_op,
            timeout,
        )

    def barrier(
        self, *, async_op: bool = False, timeout: Optional[Seconds] = None
    ) -> Optional[Work]:
        """Be done when all ranks have called it."""
        return self._operations.begin(_codes.BARRIER, [], [], async_op, timeout)

    def monitored_barrier(
        self, timeout: Optional[Seconds] = None, wait_all_ranks: bool = False
    ) -> None:
        """Wait for all ranks, and name those that do not come; the group goes on."""
        wait_ms = millis(timeout) or self._timeout_ms
        self._operations.call(
            _codes.MONITORED_BARRIER,
            flags=_codes.CHOICE if wait_all_ranks else 0,
            timeout_ms=wait_ms,
        )

    # Messages

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
        inputs = [Part(array, True, False)]
        return self._operations.begin(
            _codes.SEND, [], inputs, async_op, timeout, peer=destination, tag=tag
        )

    def recv(
        self,
        array: Any,
        source: Optional[int] = None,
        tag: int = 0,
        *,
        timeout: Optional[Seconds] = None,
    ) -> int:
        """Receive from one rank, or from whichever sends first; return which."""
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
        work = self._operations.begin(
            _codes.RECV_ANY if source is None else _codes.RECV,
            [Part(array, False, True)],
            [],
            True,
            timeout,
            peer=-1 if source is None else source,
            tag=tag,
        )
        assert work is not None
        return work

    def batch(
        self,
        operations: Sequence[Tuple[bool, Any, int, int]],
        *,
        timeout: Optional[Seconds] = None,
    ) -> List[Work]:
        """Begin several messages: for each, whether it is sent, its array, the peer, the tag."""
        parts = [Part(array, sent, not sent) for sent, array, _, _ in operations]
        body = b"".join(struct.pack("<Bii", sent, peer, tag) for sent, _, peer, tag in operations)
        # Each message ends at a time of its own, so each has memory of its own.
        staged = [self._operations.stage([part], []) for part in parts]
        together = [each.outputs[0] for each in staged]
        wait_ms = millis(timeout)
        try:
            reply = self._operations.call(
                _codes.COALESCED,
                timeout_ms=wait_ms or self._timeout_ms,
                outputs=together,
                body=body,
            )
        except ValueError:
            for each in staged:
                each.release()
            raise
        return [
            self._operations.work([reply.next_long()], each, wait_ms or self._timeout_ms)
            for each in staged
        ]

    # Groups

    def new_group(
        self,
        ranks: Sequence[int] = (),
        *,
        timeout: Optional[Seconds] = None,
        use_local_synchronization: bool = False,
        description: str = "",
    ) -> Optional[ProcessGroup]:
        """Make a group of some ranks, by their global numbers; None on those outside of it."""
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
        """Split the group as ``MPI_Comm_split`` does; None for a negative colour."""
        return self._group_of(self._operations.call(_codes.SPLIT, peer=color, tag=key))

    def shrink(self, excluded: Sequence[int]) -> ProcessGroup:
        """Make a group without some ranks: the one thing that a failed group can still do."""
        group = self._group_of(
            self._operations.call(_codes.SHRINK, body=_frames.pack_ints(list(excluded)))
        )
        assert group is not None
        return group

    def _group_of(self, reply: _frames.Reply) -> Optional[ProcessGroup]:
        return None if reply.ends_negative() else ProcessGroup(self._task, reply)

    def abort(self, reason: str) -> None:
        """End the group on every rank, whose operations then raise with this reason."""
        self._operations.call(_codes.ABORT_GROUP, body=_frames.pack_text(reason))

    def extend_timeout(self, extra: Seconds) -> None:
        """Give the operations begun from now on, until the first is done, more time."""
        extra_ms = millis(extra)
        self._operations.extra_ms += extra_ms
        self._operations.call(_codes.EXTEND_TIMEOUT, timeout_ms=extra_ms)

    def close(self) -> None:
        """Leave the group. Waits for pending operations of this rank; again, it does nothing."""
        if not self._closed:
            self._closed = True
            self._operations.call(_codes.CLOSE_GROUP)
            self._operations.settle()
            self._operations.memory.close()

    # State

    def store(self) -> Store:
        """Give the group's part of the driver's store, for keys of one's own."""
        return Store(self._task, self._id)

    def empty(self, shape: Any, dtype: Any = np.float32) -> Any:
        """Make an array in memory that operations of this group use without a copy.

        To be preferred for arrays that are used again and again; their number of bytes is rounded
        up to a power of two. Its contents are undefined. An array may be kept for longer than the
        group lives.
        """
        extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        return self._operations.memory.empty(tuple(int(each) for each in extents), np.dtype(dtype))

    def zeros(self, shape: Any, dtype: Any = np.float32) -> Any:
        """Make an array of zeros as :meth:`empty` does."""
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
        """Keep the arrays in the driver for later attempts of the stage; complete or not at all.

        Called by all ranks. With ``replicated`` the arrays are the same on all ranks, and those of
        rank 0 are kept.
        """
        staged = self._operations.stage(
            [], [piece for each in arrays for piece in cut(Part(each, True, False))]
        )
        self._operations.call(
            _codes.CHECKPOINT,
            flags=_codes.CHOICE if replicated else 0,
            timeout_ms=millis(timeout) or self._timeout_ms,
            inputs=staged.inputs,
            body=_frames.pack_text(name),
            patience=self._operations.patience(millis(timeout) or self._timeout_ms)
            + self._task.store_wait,
        )
        staged.release()

    def restore(
        self, name: str, arrays: Sequence[Any], *, timeout: Optional[Seconds] = None
    ) -> bool:
        """Overwrite the arrays with what was kept last under this name; false if nothing was."""
        staged = self._operations.stage(
            [piece for each in arrays for piece in cut(Part(each, False, True))], []
        )
        reply = self._operations.call(
            _codes.RESTORE,
            timeout_ms=millis(timeout) or self._timeout_ms,
            outputs=staged.outputs,
            body=_frames.pack_text(name),
            patience=self._operations.patience(millis(timeout) or self._timeout_ms)
            + self._task.store_wait,
        )
        found = reply.next_byte() != 0
        if found:
            staged.finish()
        else:
            staged.release()
        return found


def _rows(splits: Optional[Sequence[int]], array: Any) -> List[int]:
    """Give the splits, which are all rows of the array together."""
    if not splits:
        return []
    rows = array.shape[0] if array.ndim else 1
    if sum(splits) != rows:
        raise ValueError(
            f"The splits {list(splits)} are {sum(splits)} rows together, and the array has {rows}"
        )
    return [int(each) for each in splits]

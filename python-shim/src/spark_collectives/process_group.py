"""A group of ranks, as the task of one rank sees it."""

from __future__ import annotations

import struct
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _arrays, _wire
from ._memory import Segment, SegmentPool, aligned
from ._task import Task
from .reduce_op import ReduceOp
from .store import Store
from .work import Seconds, Work, millis

#: Of reductions whose result depends on the sign of its elements.
_SIGNED_ONLY = (ReduceOp.AVG, ReduceOp.MIN, ReduceOp.MAX)


class Staged:
    """The arrays of one operation, and where the JVM finds them."""

    __slots__ = ("back", "inputs", "outputs", "pool", "segment", "used")

    def __init__(self, pool: SegmentPool) -> None:
        self.pool = pool
        self.segment: Optional[Segment] = None
        self.used = 0
        self.outputs: List[_wire.Place] = []
        self.inputs: List[_wire.Place] = []
        #: What is copied to an array when the operation is done: array, bytes of the segment.
        self.back: List[Tuple[Any, Any]] = []

    def finish(self) -> None:
        """Copy the results to where they belong."""
        segment = self.segment
        if segment is None:
            return
        if self.back:
            segment.receive(0, self.used)
        for array, memory in self.back:
            np.copyto(array, memory)
        self.back = []
        self.release()

    def release(self) -> None:
        """Give the memory back, which nobody uses any more."""
        segment, self.segment = self.segment, None
        if segment is not None:
            self.pool.give_back(segment)


class _Part:
    """An array of an operation, and what becomes of it."""

    __slots__ = ("read", "view", "written")

    def __init__(self, value: Any, read: bool, written: bool) -> None:
        self.view = _arrays.view_of(value)
        self.read = read
        self.written = written
        if written and not self.view.array.flags.writeable:
            raise ValueError("The operation writes its result to an array that is read-only")


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

    def __init__(self, task: Task, reply: _wire.Reply, timeout_ms: int = 0) -> None:
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
        self._extra_ms = 0
        self._memory = SegmentPool(task, self._id)
        self._orphans: List[Tuple[int, Segment]] = []
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
        outputs = [_Part(array, here, not here)]
        return self._operate(_wire.BROADCAST, outputs, [], async_op, timeout, peer=root)

    def all_reduce(
        self,
        array: Any,
        op: ReduceOp = ReduceOp.SUM,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Reduce the array over all ranks, in place, to the same bits on every rank."""
        return self._operate(
            _wire.ALL_REDUCE, [_Part(array, True, True)], [], async_op, timeout, op=op
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
        outputs = [_Part(each, True, True) for each in arrays]
        return self._operate(_wire.ALL_REDUCE_COALESCED, outputs, [], async_op, timeout, op=op)

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
        outputs = [_Part(array, True, self.rank == root)]
        return self._operate(_wire.REDUCE, outputs, [], async_op, timeout, peer=root, op=op)

    def all_gather(
        self,
        outputs: Sequence[Any],
        array: Any,
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Gather the array of all ranks on all ranks; sizes may differ by rank."""
        return self._operate(
            _wire.ALL_GATHER,
            [_Part(each, False, True) for each in outputs],
            [_Part(array, True, False)],
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
        return self._operate(
            _wire.ALL_GATHER_INTO,
            [_Part(output, False, True)],
            [_Part(array, True, False)],
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
        return self._operate(
            _wire.GATHER,
            [_Part(each, False, True) for each in outputs],
            [_Part(array, True, False)],
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
        return self._operate(
            _wire.SCATTER,
            [_Part(output, False, True)],
            [_Part(each, True, False) for each in arrays],
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
        return self._operate(
            _wire.REDUCE_SCATTER,
            [_Part(output, False, True)],
            [_Part(each, True, False) for each in arrays],
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
        return self._operate(
            _wire.REDUCE_SCATTER_INTO,
            [_Part(output, False, True)],
            [_Part(array, True, False)],
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
        out = _Part(output, False, True)
        in_ = _Part(array, True, False)
        body = _wire.pack_longs(_elements(output_splits, out.view.array)) + _wire.pack_longs(
            _elements(input_splits, in_.view.array)
        )
        return self._operate(_wire.ALL_TO_ALL_INTO, [out], [in_], async_op, timeout, body=body)

    def all_to_all(
        self,
        outputs: Sequence[Any],
        arrays: Sequence[Any],
        *,
        async_op: bool = False,
        timeout: Optional[Seconds] = None,
    ) -> Optional[Work]:
        """Send each rank one of the arrays, and receive one from each."""
        return self._operate(
            _wire.ALL_TO_ALL,
            [_Part(each, False, True) for each in outputs],
            [_Part(each, True, False) for each in arrays],
            async_op,
            timeout,
        )

    def barrier(
        self, *, async_op: bool = False, timeout: Optional[Seconds] = None
    ) -> Optional[Work]:
        """Be done when all ranks have called it."""
        return self._operate(_wire.BARRIER, [], [], async_op, timeout)

    def monitored_barrier(
        self, timeout: Optional[Seconds] = None, wait_all_ranks: bool = False
    ) -> None:
        """Wait for all ranks, and name those that do not come; the group goes on."""
        wait_ms = millis(timeout) or self._timeout_ms
        self._call(
            _wire.MONITORED_BARRIER,
            flags=_wire.CHOICE if wait_all_ranks else 0,
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
        inputs = [_Part(array, True, False)]
        return self._operate(_wire.SEND, [], inputs, async_op, timeout, peer=destination, tag=tag)

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
        work = self._operate(
            _wire.RECV_ANY if source is None else _wire.RECV,
            [_Part(array, False, True)],
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
        parts = [_Part(array, sent, not sent) for sent, array, _, _ in operations]
        body = b"".join(struct.pack("<Bii", sent, peer, tag) for sent, _, peer, tag in operations)
        # Each message ends at a time of its own, so each has memory of its own.
        staged = [self._stage([part], []) for part in parts]
        together = [each.outputs[0] for each in staged]
        wait_ms = millis(timeout)
        try:
            reply = self._call(
                _wire.COALESCED, timeout_ms=wait_ms or self._timeout_ms, outputs=together, body=body
            )
        except ValueError:
            for each in staged:
                each.release()
            raise
        return [Work(self, reply.next_long(), each, wait_ms or self._timeout_ms) for each in staged]

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
            self._call(
                _wire.NEW_GROUP,
                flags=_wire.CHOICE if use_local_synchronization else 0,
                timeout_ms=millis(timeout),
                body=_wire.pack_text(description) + _wire.pack_ints(list(ranks)),
                patience=self._patience(self._timeout_ms) + self._task.store_wait,
            )
        )

    def split(self, color: int, key: int = 0) -> Optional[ProcessGroup]:
        """Split the group as ``MPI_Comm_split`` does; None for a negative colour."""
        return self._group_of(self._call(_wire.SPLIT, peer=color, tag=key))

    def shrink(self, excluded: Sequence[int]) -> ProcessGroup:
        """Make a group without some ranks: the one thing that a failed group can still do."""
        group = self._group_of(self._call(_wire.SHRINK, body=_wire.pack_ints(list(excluded))))
        assert group is not None
        return group

    def _group_of(self, reply: _wire.Reply) -> Optional[ProcessGroup]:
        return None if reply.ends_negative() else ProcessGroup(self._task, reply)

    def abort(self, reason: str) -> None:
        """End the group on every rank, whose operations then raise with this reason."""
        self._call(_wire.ABORT_GROUP, body=_wire.pack_text(reason))

    def extend_timeout(self, extra: Seconds) -> None:
        """Give the operations begun from now on, until the first is done, more time."""
        extra_ms = millis(extra)
        self._extra_ms += extra_ms
        self._call(_wire.EXTEND_TIMEOUT, timeout_ms=extra_ms)

    def close(self) -> None:
        """Leave the group. Waits for pending operations of this rank; again, it does nothing."""
        if not self._closed:
            self._closed = True
            self._call(_wire.CLOSE_GROUP)

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
        return self._memory.empty(tuple(int(each) for each in extents), np.dtype(dtype))

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
        staged = self._stage([], [_Part(each, True, False) for each in arrays])
        self._call(
            _wire.CHECKPOINT,
            flags=_wire.CHOICE if replicated else 0,
            timeout_ms=millis(timeout) or self._timeout_ms,
            inputs=staged.inputs,
            body=_wire.pack_text(name),
            patience=self._patience(millis(timeout) or self._timeout_ms) + self._task.store_wait,
        )
        staged.release()

    def restore(
        self, name: str, arrays: Sequence[Any], *, timeout: Optional[Seconds] = None
    ) -> bool:
        """Overwrite the arrays with what was kept last under this name; false if nothing was."""
        staged = self._stage([_Part(each, False, True) for each in arrays], [])
        reply = self._call(
            _wire.RESTORE,
            timeout_ms=millis(timeout) or self._timeout_ms,
            outputs=staged.outputs,
            body=_wire.pack_text(name),
            patience=self._patience(millis(timeout) or self._timeout_ms) + self._task.store_wait,
        )
        found = reply.next_byte() != 0
        if found:
            staged.finish()
        else:
            staged.release()
        return found

    # How operations reach the JVM

    def _operate(
        self,
        code: int,
        outputs: List[_Part],
        inputs: List[_Part],
        async_op: bool,
        timeout: Optional[Seconds],
        *,
        peer: int = 0,
        tag: int = 0,
        op: Optional[ReduceOp] = None,
        body: bytes = b"",
    ) -> Optional[Work]:
        if op is not None and op in _SIGNED_ONLY:
            _require_signed(op, outputs)
        wait_ms = self._timeout_ms if timeout is None else millis(timeout)
        staged = self._stage(outputs, inputs)
        try:
            reply = self._task.connection().call(
                code,
                flags=_wire.ASYNCHRONOUS if async_op else 0,
                reduction=0 if op is None else op.code,
                factor=1.0 if op is None else op.factor,
                group=self._id,
                peer=peer,
                tag=tag,
                timeout_ms=wait_ms,
                outputs=staged.outputs,
                inputs=staged.inputs,
                body=body,
                patience=self._patience(wait_ms),
            )
        except ValueError:
            # Refused before anything began.
            staged.release()
            raise
        if async_op:
            return Work(self, reply.next_long(), staged, wait_ms + self._extra_ms)
        staged.finish()
        return None

    def _call(
        self,
        code: int,
        *,
        flags: int = 0,
        peer: int = 0,
        tag: int = 0,
        timeout_ms: int = 0,
        outputs: Sequence[_wire.Place] = (),
        inputs: Sequence[_wire.Place] = (),
        body: bytes = b"",
        patience: float = 0.0,
    ) -> _wire.Reply:
        return self._task.connection().call(
            code,
            flags=flags,
            group=self._id,
            peer=peer,
            tag=tag,
            timeout_ms=timeout_ms,
            outputs=outputs,
            inputs=inputs,
            body=body,
            patience=patience or self._patience(timeout_ms or self._timeout_ms),
        )

    def _patience(self, wait_ms: int) -> float:
        return (wait_ms + self._extra_ms) / 1000.0 + _wire.MARGIN_SECONDS

    def _stage(self, outputs: Sequence[_Part], inputs: Sequence[_Part]) -> Staged:
        """Find or make the places of the arrays in memory that the JVM sees."""
        staged = Staged(self._memory)
        moved: List[Tuple[_Part, int]] = []
        for parts, places in ((outputs, staged.outputs), (inputs, staged.inputs)):
            for part in parts:
                array = part.view.array
                own = self._memory.find(array)
                if own is not None:
                    places.append((own[0].id, part.view.code, own[1], array.size))
                else:
                    moved.append((part, staged.used))
                    places.append((0, part.view.code, staged.used, array.size))
                    staged.used += aligned(array.nbytes)
        if moved:
            self._fill(staged, moved)
        return staged

    def _fill(self, staged: Staged, moved: Sequence[Tuple[_Part, int]]) -> None:
        if self._orphans:
            self._adopt_orphans()
        segment = self._memory.take(max(1, staged.used))
        staged.segment = segment
        staged.outputs = [_placed(each, segment.id) for each in staged.outputs]
        staged.inputs = [_placed(each, segment.id) for each in staged.inputs]
        for part, offset in moved:
            array = part.view.array
            memory = segment.bytes[offset : offset + array.nbytes]
            memory = memory.view(array.dtype).reshape(array.shape)
            if part.read:
                np.copyto(memory, array)
                segment.send(offset, array.nbytes)
            if part.written:
                staged.back.append((array, memory))

    def _adopt_orphans(self) -> None:
        """Take back the memory of works that nobody has waited for, once they are done."""
        waiting, self._orphans = self._orphans, []
        for id_, segment in waiting:
            try:
                reply = self._call(_wire.TEST_WORK, body=struct.pack("<Q", id_))
            except Exception:
                # It failed, and with it the group: the memory is not used again.
                continue
            if reply.status == _wire.PENDING:
                self._orphans.append((id_, segment))
            else:
                self._memory.give_back(segment)


def _placed(place: _wire.Place, segment: int) -> _wire.Place:
    return place if place[0] else (segment, *place[1:])


def _elements(splits: Optional[Sequence[int]], array: Any) -> List[int]:
    """Give the splits in elements instead of rows."""
    if not splits:
        return []
    rows = array.shape[0] if array.ndim else 1
    row = array.size // rows if rows else 0
    if sum(splits) != rows:
        raise ValueError(
            f"The splits {list(splits)} are {sum(splits)} rows together, and the array has {rows}"
        )
    return [int(each) * row for each in splits]


def _require_signed(op: ReduceOp, outputs: Sequence[_Part]) -> None:
    for part in outputs:
        if part.view.unsigned:
            raise TypeError(
                f"{op} of {part.view.array.dtype} is not possible; of unsigned types with more "
                "than 8 bits only sums, products and bitwise reductions are"
            )

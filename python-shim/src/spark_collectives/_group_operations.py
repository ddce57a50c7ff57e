"""The operations of a group: its collectives and its messages."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from . import _codes, _frames, _parts, _pending_works
from ._frames import Request
from ._operations import Operations
from ._staging import Operand, reads, updates, writes
from .reduce_op import ReduceOp
from .work import Seconds, Work


class GroupOperations:
    """The collectives and messages of a :class:`~spark_collectives.ProcessGroup`."""

    rank: int
    _operations: Operations

    # Collectives

    def broadcast(
        self, array: Any, root: int, *, async_op: bool = False, timeout: Optional[Seconds] = None
    ) -> Optional[Work]:
        """Send the array of rank ``root`` to all other ranks, which overwrite theirs."""
        arrays = reads(array) if self.rank == root else writes(array)
        return self._operations.begin(
            Request(_codes.BROADCAST, peer=root), arrays, [], async_op, timeout
        )

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
            Request(_codes.ALL_REDUCE_COALESCED, op=op), updates(*arrays), [], async_op, timeout
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
            Request(_codes.REDUCE, peer=root, op=op), arrays, [], async_op, timeout
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
            Request(_codes.ALL_GATHER), writes(*outputs), reads(array), async_op, timeout
        )

    def all_gather_into(
        self, output: Any, array: Any, *, async_op: bool = False, timeout: Optional[Seconds] = None
    ) -> Optional[Work]:
        """Gather the arrays of all ranks, in rank order, in one array on all ranks."""
        return self._operations.begin(
            Request(_codes.ALL_GATHER_INTO), writes(output), reads(array), async_op, timeout
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
            Request(_codes.GATHER, peer=root), writes(*outputs), reads(array), async_op, timeout
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
            Request(_codes.SCATTER, peer=root), writes(output), reads(*arrays), async_op, timeout
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
            Request(_codes.REDUCE_SCATTER, op=op), writes(output), reads(*arrays), async_op, timeout
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
            Request(_codes.REDUCE_SCATTER_INTO, op=op),
            writes(output),
            reads(array),
            async_op,
            timeout,
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
        outputs, inputs = writes(output), reads(array)
        body = _splits(output_splits, outputs[0]) + _splits(input_splits, inputs[0])
        return self._operations.begin(
            Request(_codes.ALL_TO_ALL_INTO, body=body), outputs, inputs, async_op, timeout
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
            Request(_codes.ALL_TO_ALL), writes(*outputs), reads(*arrays), async_op, timeout
        )

    def barrier(
        self, *, async_op: bool = False, timeout: Optional[Seconds] = None
    ) -> Optional[Work]:
        """Wait until all ranks have called it; with ``async_op``, the returned work waits."""
        return self._operations.begin(Request(_codes.BARRIER), [], [], async_op, timeout)

    def monitored_barrier(
        self, timeout: Optional[Seconds] = None, wait_all_ranks: bool = False
    ) -> None:
        """Wait until all ranks have called it; raise an error that names those that have not.

        As :func:`spark_collectives.monitored_barrier`. The group goes on.
        """
        earlier = self._operations.pending.collectives()
        self._operations.call(
            Request(
                _codes.MONITORED_BARRIER,
                flags=_codes.CHOICE if wait_all_ranks else 0,
                timeout_ms=self._operations.limit(timeout),
            )
        )
        # All ranks have called it, so all have called the collectives before it.
        _pending_works.wait_for(earlier)

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
        """Send the array to one rank; wait until it has called a receive that matches."""
        return self._operations.begin(
            Request(_codes.SEND, peer=destination, tag=tag), [], reads(array), async_op, timeout
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
        work = self._operations.begin(
            Request(code, peer=peer, tag=tag), writes(array), [], True, timeout
        )
        assert work is not None
        return work

    def batch(
        self, operations: Sequence[Tuple[bool, Any, int, int]], *, timeout: Optional[Seconds] = None
    ) -> List[Work]:
        """Begin several messages; each is (whether it is sent, its array, the peer, the tag)."""
        return self._operations.begin_batch(operations, self._operations.limit(timeout))


def _splits(splits: Optional[Sequence[int]], operand: Operand) -> bytes:
    """Encode the splits of an array, and require that they cover all of its rows."""
    if not splits:
        return _frames.pack_longs([])
    shape = operand.view.array.shape
    rows = shape[0] if shape else 1
    if sum(splits) != rows:
        raise ValueError(
            f"The splits {list(splits)} are {sum(splits)} rows together, and the array has {rows}"
        )
    return _frames.pack_longs([int(each) for each in splits])

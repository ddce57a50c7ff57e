"""All-reduce of large arrays in parts, so that copying and reducing overlap.

While the JVM reduces one part, this process copies the next one there and the last one back. All
ranks cut an array in the same way, whatever memory it is in, and whether or not they wait. An
invalid operation is refused as a whole, before its first part begins: a rank that had begun only
some parts would take the others' parts for its next operation.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from . import _codes, _frames, errors
from ._frames import Request
from ._memory import Segment, aligned
from ._operations import Operations, require_possible
from ._staging import Operand, Staged
from .reduce_op import ReduceOp
from .work import Seconds, Work

#: The approximate size of a part. With a rank on every processor, smaller parts wait longer for
#: the slowest rank; with spare processors, larger parts overlap less.
PART_BYTES = 4 << 20

_UNDER_WAY = 3


def is_for(size: int) -> bool:
    """Return whether an array of this number of bytes is reduced in parts."""
    return size > 2 * PART_BYTES


def cut(count: int, itemsize: int) -> List[Tuple[int, int]]:
    """Return the beginning and end of each part.

    The length of a part identifies the length of the array. So ranks whose arrays differ in length
    by mistake get an error: the lengths of their parts do not match.
    """
    parts = -(-count * itemsize // PART_BYTES)
    length = aligned(-(-count // parts)) + 64 * parts
    return [(begin, min(begin + length, count)) for begin in range(0, count, length)]


def all_reduce(
    operations: Operations,
    operand: Operand,
    op: ReduceOp,
    async_op: bool,
    timeout: Optional[Seconds],
) -> Optional[Work]:
    """Reduce an array; a large one in parts."""
    if not is_for(operand.view.array.nbytes):
        return operations.begin(Request(_codes.ALL_REDUCE, op=op), [operand], [], async_op, timeout)
    require_possible(op, [operand])
    reduction = Reduction(operations, operand, op, operations.limit(timeout))
    if async_op:
        return reduction.begin()
    if operations.block_of_caller() is not None:
        reduction.begin()
        return None
    reduction.run()
    operations.settle_earlier(_codes.ALL_REDUCE)
    return None


class Reduction:
    """One all-reduce in parts."""

    def __init__(
        self, operations: Operations, operand: Operand, op: ReduceOp, wait_ms: int
    ) -> None:
        self._operations = operations
        self._operand = operand
        self._op = op
        self._wait_ms = wait_ms
        self._connection = operations.task.connection()
        array = operand.view.array
        self._cuts = cut(array.size, array.itemsize)
        #: The number of replies that are still to come.
        self._outstanding = 0
        #: The number of parts whose memory the JVM may use, or may have left in a bad state.
        self._in_use = 0

    def _post(self, segment: int, offset: int, count: int, flags: int) -> None:
        # Counted before: a signal handler may raise at any time.
        self._outstanding += 1
        self._in_use += 1
        self._connection.post(
            Request(
                _codes.ALL_REDUCE,
                flags=flags,
                op=self._op,
                group=self._operations.group,
                timeout_ms=self._wait_ms,
                outputs=[(segment, self._operand.view.code, offset, count, (count,))],
            )
        )

    def _next(self) -> Tuple[_frames.Reply, Optional[Exception]]:
        reply = self._connection.skip(self._operations.patience(self._wait_ms))
        self._outstanding -= 1
        error = reply.error() if reply.status == _codes.FAILED else None
        if isinstance(error, ValueError):
            # The JVM refused the part before it began.
            self._in_use -= 1
        return reply, error

    def _take(self) -> _frames.Reply:
        """Take one reply; if it is an error, skip those of the later parts, which fail too."""
        reply, error = self._next()
        if error is None:
            return reply
        with contextlib.suppress(errors.BridgeError):
            while self._outstanding:
                self._next()
        raise error

    def _take_end(self) -> None:
        """Take the reply of a part that has ended with it."""
        self._take()
        self._in_use -= 1

    def _give_up(self, release: Callable[[], None]) -> None:
        """Break the connection if replies may still come; else release memory that is not used."""
        if self._outstanding:
            self._connection.close("A call of this thread was interrupted")
        elif not self._in_use:
            release()

    def begin(self) -> Work:
        """Begin the operation, and return its work."""
        staged = self._stage()
        segment, _, offset, _, _ = staged.outputs[0]
        itemsize = self._operand.view.array.itemsize
        try:
            for begin, end in self._cuts:
                self._post(segment, offset + begin * itemsize, end - begin, _codes.ASYNCHRONOUS)
            ids = [self._take().next_long() for _ in self._cuts]
        except BaseException:
            self._give_up(staged.release)
            raise
        return self._operations.work(ids, staged, self._wait_ms, [self._operand])

    def _stage(self) -> Staged:
        """Stage the whole array; the JVM refuses it if the NaN check is on and finds one."""
        staged = self._operations.stage([self._operand], [])
        if self._operations.task.nan_check:
            try:
                self._operations.call(Request(_codes.CHECK_NUMBERS, inputs=staged.outputs))
            except ValueError:
                staged.release()
                raise
        return staged

    def run(self) -> None:
        """Do the operation, and wait for its end."""
        array = self._operand.view.array
        own = self._operations.memory.find(array)
        # The result of an earlier operation must come neither between the parts nor after them.
        earlier = self._operations.pending.collectives()
        if own is not None or earlier or self._operations.task.nan_check:
            self._run_whole()
        elif array.flags.c_contiguous:
            self._run_in_stages(array.reshape(-1))
        else:
            whole = np.ascontiguousarray(array)
            self._run_in_stages(whole.reshape(-1))
            np.copyto(array, whole)

    def _run_whole(self) -> None:
        staged = self._stage()
        segment, _, offset, _, _ = staged.outputs[0]
        try:
            self._run_in(segment, offset)
        except BaseException:
            self._give_up(staged.release)
            raise
        self._operations.settle_earlier(_codes.ALL_REDUCE)
        staged.finish()

    def _run_in(self, segment: int, offset: int) -> None:
        itemsize = self._operand.view.array.itemsize
        posted = 0
        for taken in range(len(self._cuts)):
            while posted < min(taken + _UNDER_WAY, len(self._cuts)):
                begin, end = self._cuts[posted]
                self._post(segment, offset + begin * itemsize, end - begin, 0)
                posted += 1
            self._take_end()

    def _run_in_stages(self, flat: Any) -> None:
        longest = aligned((self._cuts[0][1] - self._cuts[0][0]) * flat.itemsize)
        segment = self._operations.memory.take(_UNDER_WAY * longest)
        # Copying to memory that is not mapped needs the connection for itself.
        under_way = _UNDER_WAY if segment.mapped else 1
        posted = 0
        try:
            for taken in range(len(self._cuts)):
                while posted < min(taken + under_way, len(self._cuts)):
                    self._copy_in(flat, segment, posted, posted % under_way * longest)
                    posted += 1
                self._take_end()
                self._copy_out(flat, segment, taken, taken % under_way * longest)
        except BaseException:
            self._give_up(lambda: self._operations.memory.give_back(segment))
            raise
        self._operations.memory.give_back(segment)

    def _buffers(self, flat: Any, segment: Segment, i: int, offset: int) -> Tuple[Any, Any]:
        begin, end = self._cuts[i]
        size = (end - begin) * flat.itemsize
        return flat[begin:end], segment.bytes[offset : offset + size].view(flat.dtype)

    def _copy_in(self, flat: Any, segment: Segment, i: int, offset: int) -> None:
        part, staged = self._buffers(flat, segment, i, offset)
        np.copyto(staged, part)
        segment.send(offset, staged.nbytes)
        self._post(segment.id, offset, staged.size, 0)

    def _copy_out(self, flat: Any, segment: Segment, i: int, offset: int) -> None:
        part, staged = self._buffers(flat, segment, i, offset)
        segment.receive(offset, staged.nbytes)
        np.copyto(part, staged)

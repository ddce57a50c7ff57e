"""The requests that the operations of one group send to the JVM."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from . import _codes, _connection, _frames, reduce_op
from ._coalescing import Coalescing
from ._completions import Completions
from ._host_memory import HostSegments
from ._layouts import Layouts
from ._memory import SegmentPool
from ._pending_works import PendingWorks
from ._staging import Operand, Staged, reads, writes
from ._task import Task
from .reduce_op import ReduceOp
from .work import Seconds, Work, millis

_MESSAGES = (_codes.SEND, _codes.RECV, _codes.RECV_ANY)

#: Reductions whose result depends on the sign of the elements.
_SIGNED_ONLY = (ReduceOp.AVG, ReduceOp.MIN, ReduceOp.MAX)


class Operations:
    """The operations of one group. Thread-safe."""

    def __init__(self, task: Task, group: int, timeout_ms: int) -> None:
        self.task = task
        self.group = group
        self.timeout_ms = timeout_ms
        self.extra_ms = 0
        self.memory = SegmentPool(task, group)
        self._layouts = Layouts(self.memory)
        task.pools.add(self._layouts)
        self.host_memory = HostSegments(task, group)
        #: Whether this rank has aborted the group.
        self.aborted = False
        self.pending = PendingWorks()
        task.pending.add(self.pending)
        #: The block of operations that are awaited as one, if there is one.
        self.coalescing: Optional[Coalescing] = None
        #: Completes the futures of collectives, which end in their order.
        self._completions = Completions(f"collectives-futures-{group}")
        #: Completes those of messages. One may take long, and must not delay the others.
        self._message_completions = Completions(f"collectives-messages-{group}", in_order=False)

    def begin(
        self,
        code: int,
        outputs: List[Operand],
        inputs: List[Operand],
        async_op: bool,
        timeout: Optional[Seconds],
        *,
        peer: int = 0,
        tag: int = 0,
        op: Optional[ReduceOp] = None,
        body: bytes = b"",
    ) -> Optional[Work]:
        """Begin an operation; unless ``async_op``, wait until it is done."""
        if not async_op and self.block_of_caller() is not None:
            self.begin(code, outputs, inputs, True, timeout, peer=peer, tag=tag, op=op, body=body)
            return None
        if op is not None:
            require_possible(op, outputs)
        wait_ms = self.limit(timeout)
        if not async_op and self._run_small(
            code, outputs, inputs, wait_ms, peer=peer, tag=tag, op=op, body=body
        ):
            return None
        staged = self.stage(outputs, inputs)
        connection = self.task.connection()
        try:
            reply = connection.call(
                code,
                flags=_codes.ASYNCHRONOUS if async_op else 0,
                reduction=0 if op is None else op.code,
                factor=1.0 if op is None else op.factor,
                group=self.group,
                peer=peer,
                tag=tag,
                timeout_ms=wait_ms,
                outputs=staged.outputs,
                inputs=staged.inputs,
                body=body,
                patience=self.patience(wait_ms),
            )
        except ValueError:
            # The JVM refused the operation before it began, unless a signal handler raises this.
            if not connection.is_broken:
                staged.release()
            raise
        if async_op:
            made = self.work(
                [reply.next_long()], staged, wait_ms, outputs, message=code in _MESSAGES
            )
            if code == _codes.BARRIER:
                made._when_known(lambda: self.pending.settle(made.number))
            return made
        self.settle_earlier(code)
        staged.finish()
        return None

    def settle_earlier(self, code: int) -> None:
        """Let works have their results that had to end before an operation that has ended.

        Called before that has its own: its array may be that of an earlier one.
        """
        if not self.pending:
            return
        if code == _codes.BARRIER:
            self.pending.settle()
        elif code not in _MESSAGES:
            self.pending.settle_collectives()

    def _run_small(
        self,
        code: int,
        outputs: List[Operand],
        inputs: List[Operand],
        wait_ms: int,
        *,
        peer: int,
        tag: int,
        op: Optional[ReduceOp],
        body: bytes,
    ) -> bool:
        """Run an operation, if its arrays fit in a scratch segment; return whether they do."""
        scratch = self._layouts.take()
        if scratch is None:
            return False
        operands = [*outputs, *inputs]
        layout = scratch.layout(operands)
        if layout is None:
            self._layouts.give_back(scratch)
            return False
        layout.copy_there(operands)
        connection = self.task.connection()
        try:
            connection.send(
                _frames.request(
                    code,
                    reduction=0 if op is None else op.code,
                    factor=1.0 if op is None else op.factor,
                    group=self.group,
                    peer=peer,
                    tag=tag,
                    timeout_ms=wait_ms,
                    outputs=len(outputs),
                    inputs=len(inputs),
                    content=layout.tensors + body,
                )
            )
            connection.take(self.patience(wait_ms))
        except ValueError:
            # The JVM refused the operation before it began, unless a signal handler raises this.
            if not connection.is_broken:
                self._layouts.give_back(scratch)
            raise
        self.settle_earlier(code)
        layout.copy_back(operands)
        self._layouts.give_back(scratch)
        return True

    def begin_all_to_all(
        self,
        output: Any,
        array: Any,
        output_splits: Optional[Sequence[int]],
        input_splits: Optional[Sequence[int]],
        async_op: bool,
        timeout: Optional[Seconds],
    ) -> Optional[Work]:
        """Begin an all-to-all of the rows of one array."""
        outputs, inputs = writes(output), reads(array)
        body = _splits(output_splits, outputs[0]) + _splits(input_splits, inputs[0])
        return self.begin(_codes.ALL_TO_ALL_INTO, outputs, inputs, async_op, timeout, body=body)

    def begin_batch(
        self, messages: Sequence[Tuple[bool, Any, int, int]], wait_ms: int
    ) -> List[Work]:
        """Begin several messages; each is (whether it is sent, its array, the peer, the tag)."""
        operands = [Operand(array, sent, not sent) for sent, array, _, _ in messages]
        body = b"".join(_frames.pack_message(sent, peer, tag) for sent, _, peer, tag in messages)
        staged: List[Staged] = []
        try:
            # The messages end at different times, so each has its own segment.
            for operand in operands:
                staged.append(self.stage([operand], []))
        except BaseException:
            # None of them has begun.
            for each in staged:
                each.release()
            raise
        try:
            reply = self.call(
                _codes.COALESCED,
                timeout_ms=wait_ms,
                outputs=[each.outputs[0] for each in staged],
                body=body,
            )
        except ValueError:
            if not self.task.connection().is_broken:
                for each in staged:
                    each.release()
            raise
        return [
            self.work(
                [reply.next_long()],
                each,
                wait_ms,
                [operand] if operand.written else [],
                message=True,
            )
            for each, operand in zip(staged, operands)
        ]

    def call(
        self,
        code: int,
        *,
        flags: int = 0,
        peer: int = 0,
        tag: int = 0,
        timeout_ms: int = 0,
        outputs: Sequence[_frames.TensorRef] = (),
        inputs: Sequence[_frames.TensorRef] = (),
        body: bytes = b"",
        patience: float = 0.0,
    ) -> _frames.Reply:
        """Send a request of the group that is no collective, and wait for its reply."""
        return self.task.connection().call(
            code,
            flags=flags,
            group=self.group,
            peer=peer,
            tag=tag,
            timeout_ms=timeout_ms,
            outputs=outputs,
            inputs=inputs,
            body=body,
            patience=patience or self.patience(timeout_ms or self.timeout_ms),
        )

    @contextlib.contextmanager
    def coalesced(self, block: Coalescing) -> Iterator[None]:
        """Collect the works of the calling thread's operations in the block."""
        if self.coalescing is not None:
            raise RuntimeError("A block of coalesced operations has not ended in this group yet")
        self.coalescing = block
        try:
            yield
        finally:
            self.coalescing = None

    def limit(self, timeout: Optional[Seconds]) -> int:
        """Return the timeout in milliseconds; without one, the group's."""
        return self.timeout_ms if timeout is None else millis(timeout)

    def longest_seconds(self) -> float:
        """Return the seconds that an operation without a timeout of its own may take."""
        return (self.timeout_ms + self.extra_ms) / 1000.0

    def check(self) -> None:
        """Raise what an operation would raise, if the group has failed. Waits for nobody."""
        self.call(_codes.CHECK_GROUP)

    def patience(self, wait_ms: int) -> float:
        """Return the seconds after which a JVM without a reply to an operation is said to hang."""
        return (wait_ms + self.extra_ms) / 1000.0 + _connection.MARGIN_SECONDS

    def stage(self, outputs: Sequence[Operand], inputs: Sequence[Operand]) -> Staged:
        """Stage the arrays of an operation in memory that the JVM sees."""
        return Staged(self.memory, outputs, inputs)

    def work(
        self,
        ids: List[int],
        staged: Staged,
        wait_ms: int,
        outputs: Sequence[Operand],
        message: bool = False,
    ) -> Work:
        """Create the work of an operation that goes on."""
        made = Work(
            self.task,
            self.pending.ended,
            ids,
            staged,
            wait_ms + self.extra_ms,
            [each.value for each in outputs],
            self._message_completions if message else self._completions,
        )
        self.pending.add(made, message)
        self.pending.settle_many()
        block = self.block_of_caller()
        if block is not None:
            block.add(made)
        return made

    def block_of_caller(self) -> Optional[Coalescing]:
        """Return the block of coalesced operations that the calling thread is in, if it is."""
        # Read once: another thread may end its block just now.
        block = self.coalescing
        return block if block is not None and block.is_callers() else None

    def close(self) -> None:
        """Release the memory of the group, which is closed."""
        self._layouts.close()
        self.memory.close()
        self.host_memory.close()


def require_possible(op: ReduceOp, outputs: Sequence[Operand]) -> None:
    """Refuse what is no reduction, and one of unsigned elements that depends on the sign.

    They travel as signed.

    :raises TypeError: if it is so
    """
    reduce_op.require(op)
    if op not in _SIGNED_ONLY:
        return
    for operand in outputs:
        if operand.view.unsigned:
            raise TypeError(
                f"{op} of {operand.view.array.dtype} is not possible; of unsigned types with more "
                "than 8 bits only sums, products and bitwise reductions are"
            )


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

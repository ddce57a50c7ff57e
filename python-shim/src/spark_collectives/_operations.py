"""The requests that the operations of one group send to the JVM."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from . import _codes, _connection, _frames, reduce_op
from ._coalescing import Coalescing
from ._completions import Completions
from ._frames import Request
from ._host_memory import HostSegments
from ._layouts import Layouts
from ._memory import SegmentPool
from ._pending_works import PendingWorks
from ._staging import Operand, Staged
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
        request: Request,
        outputs: List[Operand],
        inputs: List[Operand],
        async_op: bool,
        timeout: Optional[Seconds],
    ) -> Optional[Work]:
        """Begin an operation; unless ``async_op``, wait until it is done.

        :param request: has what is particular to the operation; this adds the rest
        """
        if not async_op and self.block_of_caller() is not None:
            self.begin(request, outputs, inputs, True, timeout)
            return None
        if request.op is not None:
            require_possible(request.op, outputs)
        request.group = self.group
        request.timeout_ms = wait_ms = self.limit(timeout)
        if not async_op and self._run_small(request, outputs, inputs):
            return None
        staged = self.stage(outputs, inputs)
        request.outputs, request.inputs = staged.outputs, staged.inputs
        request.flags = _codes.ASYNCHRONOUS if async_op else 0
        connection = self.task.connection()
        try:
            reply = connection.call(request, self.patience(wait_ms))
        except ValueError:
            # The JVM refused the operation before it began, unless a signal handler raises this.
            if not connection.is_broken:
                staged.release()
            raise
        if async_op:
            made = self.work(
                [reply.next_long()], staged, wait_ms, outputs, message=request.code in _MESSAGES
            )
            if request.code == _codes.BARRIER:
                made._when_known(lambda: self.pending.settle(made.number))
            return made
        self.settle_earlier(request.code)
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

    def _run_small(self, request: Request, outputs: List[Operand], inputs: List[Operand]) -> bool:
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
            connection.send(request.encode_with(layout.tensors, len(outputs), len(inputs)))
            connection.take(self.patience(request.timeout_ms))
        except ValueError:
            # The JVM refused the operation before it began, unless a signal handler raises this.
            if not connection.is_broken:
                self._layouts.give_back(scratch)
            raise
        self.settle_earlier(request.code)
        layout.copy_back(operands)
        self._layouts.give_back(scratch)
        return True

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
                Request(
                    _codes.COALESCED,
                    timeout_ms=wait_ms,
                    outputs=[each.outputs[0] for each in staged],
                    body=body,
                )
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

    def call(self, request: Request, patience: float = 0.0) -> _frames.Reply:
        """Send a request of the group that is no collective, and wait for its reply.

        :param patience: by default that of an operation with the request's timeout
        """
        request.group = self.group
        wait_ms = request.timeout_ms or self.timeout_ms
        return self.task.connection().call(request, patience or self.patience(wait_ms))

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
        self.call(Request(_codes.CHECK_GROUP))

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

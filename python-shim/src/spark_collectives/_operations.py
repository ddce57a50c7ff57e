"""How the operations of one group reach the JVM."""

from __future__ import annotations

import struct
import weakref
from typing import List, Optional, Sequence

from . import _codes, _connection, _frames
from ._memory import SegmentPool
from ._staging import Part, Staged
from ._task import Task, members
from .reduce_op import ReduceOp
from .work import Orphans, Seconds, Work, millis

#: Of reductions whose result depends on the sign of its elements.
_SIGNED_ONLY = (ReduceOp.AVG, ReduceOp.MIN, ReduceOp.MAX)


class Operations:
    """The requests of one group, from any thread of this process."""

    def __init__(self, task: Task, group: int, timeout_ms: int) -> None:
        self.task = task
        self.group = group
        self.timeout_ms = timeout_ms
        self.extra_ms = 0
        self.memory = SegmentPool(task, group)
        self.orphans: Orphans = []
        #: Those that somebody may still wait for, and those that are done.
        self._works: weakref.WeakSet[Work] = weakref.WeakSet()

    def begin(
        self,
        code: int,
        outputs: List[Part],
        inputs: List[Part],
        async_op: bool,
        timeout: Optional[Seconds],
        *,
        peer: int = 0,
        tag: int = 0,
        op: Optional[ReduceOp] = None,
        body: bytes = b"",
    ) -> Optional[Work]:
        """Begin an operation, and unless ``async_op`` wait for its end."""
        if op is not None:
            require_signed(op, outputs)
        wait_ms = self.limit(timeout)
        staged = self.stage(outputs, inputs)
        try:
            reply = self.task.connection().call(
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
            # Refused before anything began.
            staged.release()
            raise
        if async_op:
            return self.work([reply.next_long()], staged, wait_ms)
        staged.finish()
        return None

    def call(
        self,
        code: int,
        *,
        flags: int = 0,
        peer: int = 0,
        tag: int = 0,
        timeout_ms: int = 0,
        outputs: Sequence[_frames.Place] = (),
        inputs: Sequence[_frames.Place] = (),
        body: bytes = b"",
        patience: float = 0.0,
    ) -> _frames.Reply:
        """Have the JVM do something with the group that is no collective."""
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

    def limit(self, timeout: Optional[Seconds]) -> int:
        """How many milliseconds an operation with that timeout may take."""
        return self.timeout_ms if timeout is None else millis(timeout)

    def work(self, ids: List[int], staged: Staged, wait_ms: int) -> Work:
        """Give what the caller gets of an operation that goes on."""
        made = Work(self.task, self.orphans, ids, staged, wait_ms + self.extra_ms)
        self._works.add(made)
        return made

    def settle(self) -> None:
        """Take the ends of all works from the JVM, which keeps them until then."""
        for work in members(self._works):
            work.is_completed()
        self._adopt_orphans()

    def patience(self, wait_ms: int) -> float:
        """How many seconds a JVM that hangs is waited for in an operation."""
        return (wait_ms + self.extra_ms) / 1000.0 + _connection.MARGIN_SECONDS

    def stage(self, outputs: Sequence[Part], inputs: Sequence[Part]) -> Staged:
        """Bring the arrays of an operation to where the JVM sees them."""
        if self.orphans:
            self._adopt_orphans()
        return Staged(self.memory, outputs, inputs)

    def _adopt_orphans(self) -> None:
        """Take back the memory of works that nobody has waited for, once they are done."""
        waiting = self.orphans[:]
        del self.orphans[: len(waiting)]
        for ids, arrays in waiting:
            left = list(ids)
            try:
                while left and not self._is_pending(left[0]):
                    left.pop(0)
            except Exception:
                # It failed, and with it the group: the memory is not used again.
                continue
            if left:
                self.orphans.append((left, arrays))
            else:
                arrays.release()

    def _is_pending(self, work: int) -> bool:
        return self.call(_codes.TEST_WORK, body=struct.pack("<Q", work)).status == _codes.PENDING


def require_signed(op: ReduceOp, outputs: Sequence[Part]) -> None:
    """Refuse a reduction of unsigned elements, which travel as signed ones, that would differ."""
    if op not in _SIGNED_ONLY:
        return
    for part in outputs:
        if part.view.unsigned:
            raise TypeError(
                f"{op} of {part.view.array.dtype} is not possible; of unsigned types with more "
                "than 8 bits only sums, products and bitwise reductions are"
            )

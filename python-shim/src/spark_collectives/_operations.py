"""How the operations of one group reach the JVM."""

from __future__ import annotations

import struct
from typing import Any, List, Optional, Sequence, Tuple

from . import _parts, _wire
from ._memory import SegmentPool
from ._staging import Part, Staged
from ._task import Task
from .reduce_op import ReduceOp
from .work import Seconds, Work, millis

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
        #: The arrays of works that nobody has seen the end of, by the works' numbers.
        self.orphans: List[Tuple[Sequence[int], Staged]] = []

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
        if op is not None and op in _SIGNED_ONLY:
            _require_signed(op, outputs)
        wait_ms = self.timeout_ms if timeout is None else millis(timeout)
        staged = self.stage(outputs, inputs)
        try:
            reply = self.task.connection().call(
                code,
                flags=_wire.ASYNCHRONOUS if async_op else 0,
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
            return Work(self, [reply.next_long()], staged, wait_ms + self.extra_ms)
        staged.finish()
        return None

    def all_reduce(
        self, part: Part, op: ReduceOp, async_op: bool, timeout: Optional[Seconds]
    ) -> Optional[Work]:
        """Reduce an array, a large one in parts."""
        if not _parts.is_for(part.view.array.nbytes):
            return self.begin(_wire.ALL_REDUCE, [part], [], async_op, timeout, op=op)
        if op in _SIGNED_ONLY:
            _require_signed(op, [part])
        wait_ms = self.timeout_ms if timeout is None else millis(timeout)
        reduction = _parts.Reduction(self, part, op, wait_ms)
        if async_op:
            return reduction.begin()
        reduction.run()
        return None

    def call(
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

    def patience(self, wait_ms: int) -> float:
        """How many seconds a JVM that stands still is waited for in an operation."""
        return (wait_ms + self.extra_ms) / 1000.0 + _wire.MARGIN_SECONDS

    def stage(self, outputs: Sequence[Part], inputs: Sequence[Part]) -> Staged:
        """Bring the arrays of an operation to where the JVM sees them."""
        if self.orphans:
            self._adopt_orphans()
        return Staged(self.memory, outputs, inputs)

    def _adopt_orphans(self) -> None:
        """Take back the memory of works that nobody has waited for, once they are done."""
        waiting, self.orphans = self.orphans, []
        for ids, staged in waiting:
            left = list(ids)
            try:
                while left and not self._is_pending(left[0]):
                    left.pop(0)
            except Exception:
                # It failed, and with it the group: the memory is not used again.
                continue
            if left:
                self.orphans.append((left, staged))
            else:
                staged.release()

    def _is_pending(self, work: int) -> bool:
        return self.call(_wire.TEST_WORK, body=struct.pack("<Q", work)).status == _wire.PENDING


def _require_signed(op: ReduceOp, outputs: Sequence[Any]) -> None:
    for part in outputs:
        if part.view.unsigned:
            raise TypeError(
                f"{op} of {part.view.array.dtype} is not possible; of unsigned types with more "
                "than 8 bits only sums, products and bitwise reductions are"
            )

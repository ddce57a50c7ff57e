"""Checkpoints of a group: arrays that the driver keeps for later attempts of the stage."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from . import _codes, _frames
from ._frames import Request
from ._operations import Operations
from ._staging import cut, reads, writes
from .work import Seconds, millis


def save(
    operations: Operations,
    name: str,
    arrays: Sequence[Any],
    replicated: bool,
    timeout: Optional[Seconds],
) -> None:
    """Save the arrays of all ranks, or those of rank 0 if they are ``replicated``."""
    wait_ms = millis(timeout) or operations.timeout_ms
    body = _frames.pack_text(name)
    staged = operations.stage([], [piece for each in reads(*arrays) for piece in cut(each)])
    with staged.released_if_refused():
        operations.call(
            Request(
                _codes.CHECKPOINT,
                flags=_codes.CHOICE if replicated else 0,
                timeout_ms=wait_ms,
                inputs=staged.inputs,
                body=body,
            ),
            operations.patience(wait_ms) + operations.task.store_wait,
        )
    staged.release()


def restore(
    operations: Operations, name: str, arrays: Sequence[Any], timeout: Optional[Seconds]
) -> bool:
    """Overwrite the arrays with the last checkpoint of this name; return False without one."""
    wait_ms = millis(timeout) or operations.timeout_ms
    body = _frames.pack_text(name)
    staged = operations.stage([piece for each in writes(*arrays) for piece in cut(each)], [])
    with staged.released_if_refused():
        reply = operations.call(
            Request(_codes.RESTORE, timeout_ms=wait_ms, outputs=staged.outputs, body=body),
            operations.patience(wait_ms) + operations.task.store_wait,
        )
    found = reply.next_byte() != 0
    if found:
        staged.finish()
    else:
        staged.release()
    return found

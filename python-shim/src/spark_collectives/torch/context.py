"""The Spark task that this process runs, if any."""

from __future__ import annotations

from typing import Any, Optional

from .. import _task


def in_task() -> bool:
    """Return whether this process runs a Spark task."""
    return _task._context() is not None


def attempt() -> Optional[int]:
    """Return the id of the task's attempt; None outside of a task."""
    context: Any = _task._context()
    return None if context is None else int(context.taskAttemptId())

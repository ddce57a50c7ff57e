"""The Spark task that this process runs, if any."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, List, Optional

from torch.distributed.constants import default_pg_timeout

from .. import _task, distributed


def in_task() -> bool:
    """Return whether this process runs a Spark task."""
    return _task._context() is not None


def attempt() -> Optional[int]:
    """Return the id of the task's attempt; None outside of a task."""
    context: Any = _task._context()
    return None if context is None else int(context.taskAttemptId())


def gpu_addresses() -> List[str]:
    """Return the addresses of the GPUs that Spark has given to the task; none outside of a task."""
    context: Any = _task._context()
    given = {} if context is None else context.resources()
    return list(given["gpu"].addresses) if "gpu" in given else []


def host() -> str:
    """Return the host of the barrier task's executor, by the name or address that Spark knows."""
    from pyspark import BarrierTaskContext

    task: Any = BarrierTaskContext.get()
    address: str = task.getTaskInfos()[task.partitionId()].address
    return address.rpartition(":")[0].strip("[]")


def default_timeout() -> timedelta:
    """Return the timeout of the task's world group; torch's default outside of a task."""
    if in_task():
        return timedelta(seconds=distributed.init_process_group().timeout)
    default: timedelta = default_pg_timeout
    return default

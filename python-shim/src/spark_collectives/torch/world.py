"""torch's state of a process, bound to the Spark task that created it."""

from __future__ import annotations

import logging
import sys
from typing import Any, Optional

import torch.distributed.distributed_c10d as c10d

from . import context, private

_log = logging.getLogger(__name__)


class TaskWorld(private.World):  # type: ignore[misc]
    """The default group and all other groups, until the task that created them ends.

    torch keeps them for the process, and Spark reuses a process for later tasks: groups that a task
    has not destroyed would be in the way of the next task.
    """

    _attempt: Optional[int] = None
    _hook: Any = None

    @property
    def default_pg(self) -> Any:
        """The default group, if this task created it."""
        if self._default_pg is not None and self._attempt != context.attempt():
            self._forget()
        return self._default_pg

    @default_pg.setter
    def default_pg(self, group: Any) -> None:
        if group is not None:
            self._attempt = context.attempt()
            self._hook = sys.excepthook
        elif self._hook is not None:
            # init_process_group wraps the hook each time, and nothing unwraps it.
            if sys.excepthook.__module__ == c10d.__name__:
                sys.excepthook = self._hook
            self._hook = None
        self._default_pg = group

    def _forget(self) -> None:
        self._attempt = context.attempt()
        try:
            c10d.destroy_process_group()
        except Exception:
            _log.warning("The groups of the task before could not be destroyed", exc_info=True)
            self.default_pg = None


def install() -> None:
    """Replace torch's world by a :class:`TaskWorld`, unless another one has replaced it."""
    world = private.replace_world(TaskWorld)
    if world is not None:
        world._attempt = context.attempt()

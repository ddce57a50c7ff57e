"""The extent of the checks of groups, as ``TORCH_DISTRIBUTED_DEBUG`` has it."""

from __future__ import annotations

import contextlib
import enum
import os
from typing import Iterator, Optional, Tuple

from . import _backends, _frames, _names, _task

_VARIABLE = "TORCH_DISTRIBUTED_DEBUG"


class DebugLevel(enum.Enum):
    """The extent of a group's optional checks, as in ``torch.distributed``.

    With ``OFF`` there are none. ``INFO`` logs when groups are made and closed. ``DETAIL`` also lets
    the ranks compare their calls before each collective, which costs a small all-gather.
    """

    OFF = 0
    INFO = 1
    DETAIL = 2


#: The attempt of the task that has chosen a level, None outside of a task, and the level.
_chosen: Optional[Tuple[Optional[int], DebugLevel]] = None


def _of_environment() -> Optional[DebugLevel]:
    value = os.environ.get(_VARIABLE, "")
    if not value:
        return None
    try:
        return DebugLevel[value.upper()]
    except KeyError:
        raise ValueError(
            f"The value of {_VARIABLE} must be OFF, INFO or DETAIL, and is {value!r}"
            + _names.question(value, DebugLevel.__members__)
        ) from None


def _asked_for() -> Optional[DebugLevel]:
    """Return the level that the program or the environment asks for; None for Spark's setting."""
    if _chosen is not None and _chosen[0] == _task.attempt():
        return _chosen[1]
    return _of_environment()


def get_debug_level() -> DebugLevel:
    """Return the debug level of groups that are made from now on.

    That of :func:`set_debug_level`, else of the environment variable ``TORCH_DISTRIBUTED_DEBUG``,
    else of the setting ``spark.collectives.debug``.

    :raises ValueError: if the variable has another value than OFF, INFO or DETAIL
    """
    level = _asked_for()
    return DebugLevel[_task.debug_setting()] if level is None else level


def set_debug_level(level: DebugLevel) -> None:
    """Set the debug level of groups that this task makes from now on; the same on all ranks."""
    global _chosen
    if not isinstance(level, DebugLevel):
        raise TypeError(f"The debug level must be a DebugLevel, such as DebugLevel.INFO: {level!r}")
    _chosen = (_task.attempt(), level)


def set_debug_level_from_env() -> None:
    """Set the debug level to that of ``TORCH_DISTRIBUTED_DEBUG``, by default OFF."""
    set_debug_level(_of_environment() or DebugLevel.OFF)


@contextlib.contextmanager
def at_least(level: DebugLevel) -> Iterator[None]:
    """Use a level for the groups that are made within, unless theirs is a higher one."""
    global _chosen
    before = _chosen
    if level.value > get_debug_level().value:
        set_debug_level(level)
    try:
        yield
    finally:
        _chosen = before


def pack_options(backend: str = "") -> bytes:
    """Encode the backend and the debug level of a new group."""
    level = _asked_for()
    return _frames.pack_text(_backends.of_jvm(backend)) + _frames.pack_text(
        "" if level is None else level.name
    )

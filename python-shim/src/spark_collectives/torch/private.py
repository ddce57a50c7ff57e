"""The names of torch's own that it keeps to itself, and that the backend needs.

Each may be missing in a version of torch; what that version then cannot do is said here.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any, Callable, Dict

from torch.distributed import distributed_c10d as c10d

_OWN = "spark"

#: Whether torch can shrink a group of a backend that is written in Python.
CAN_SHRINK = hasattr(c10d, "_create_shrunk_process_group")

#: Whether torch asks for the timeout of a group whose user has given none.
ASKS_FOR_TIMEOUT = hasattr(c10d, "_get_default_timeout")


def install(default_timeout: Callable[[], timedelta]) -> None:
    """Prepare torch for groups of the backend ``"spark"``; once in a process.

    :param default_timeout: returns the timeout of a group whose user has given none
    """
    # torch's flight recorder hooks into C++ backends; the library records operations itself.
    if hasattr(c10d, "_FR_SELF_RECORDING_BACKENDS"):
        c10d._FR_SELF_RECORDING_BACKENDS.add(_OWN)
    c10d.BackendConfig.get_device_backend_map = _own_last(c10d.BackendConfig.get_device_backend_map)
    if hasattr(c10d, "_maybe_attach_flight_recorder"):
        c10d._maybe_attach_flight_recorder = _of_base(c10d._maybe_attach_flight_recorder)
    if ASKS_FOR_TIMEOUT:
        c10d._get_default_timeout = _own_timeout(c10d._get_default_timeout, default_timeout)
    if CAN_SHRINK:
        c10d._create_shrunk_process_group = _as_it_is(c10d._create_shrunk_process_group)


def _own_last(original: Any) -> Any:
    """Let torch create the group of this backend after the backends of other devices.

    With a group that is written in Python torch creates no further backend.
    """

    def get_device_backend_map(config: Any) -> Dict[str, str]:
        found: Dict[str, str] = original(config)
        if _OWN not in found.values():
            return found
        return dict(sorted(found.items(), key=lambda each: each[1] == _OWN))

    return get_device_backend_map


def _own_timeout(original: Any, default_timeout: Callable[[], timedelta]) -> Any:
    """Give groups of this backend the timeout of Spark's settings."""

    def get_default_timeout(backend: Any) -> timedelta:
        names = [each.rpartition(":")[2] for each in str(backend).lower().split(",")]
        found: timedelta = default_timeout() if _OWN in names else original(backend)
        return found

    return get_default_timeout


def _as_it_is(original: Any) -> Any:
    """Let torch take a shrunk group of this backend for what it is: no backend of a C++ group."""

    def create(group: Any, ranks: Any, metadata: Any, is_default: bool) -> Any:
        if not isinstance(group, c10d.ProcessGroup):
            return original(group, ranks, metadata, is_default)
        old = "default:shrunken" if is_default else f"{metadata['original_group_name']}:shrunk"
        group._set_group_name(metadata["new_group_name"])
        group._set_group_desc(old)
        return group

    return create


def _of_base(original: Any) -> Any:
    """Record the operations of other backends in their own group, which has them."""

    def attach(group: Any, *arguments: Any) -> None:
        original(getattr(group, "base", group), *arguments)

    return attach


def base_group(options: Any) -> Any:
    """Return torch's own group, with the backends that were created for it; None if it has none.

    :param options: those with which torch creates a backend
    """
    group = getattr(options, "process_group", None)
    if group is None:
        # Older versions do not hand it over. The caller of a backend's creator has it.
        frame: Any = sys._getframe()
        while frame is not None and frame.f_code.co_name != "_new_process_group_helper":
            frame = frame.f_back
        group = None if frame is None else frame.f_locals.get("pg")
    return group if group is not None and group._device_types else None

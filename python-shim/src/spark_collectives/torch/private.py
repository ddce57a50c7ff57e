"""The names of torch's own that it keeps to itself, and that the backend needs.

No other file touches such names, except for those of methods of groups that it overrides. Some are
missing in some versions of torch; what such a version cannot do is said here. A version that lacks
one of the others is refused.
"""

from __future__ import annotations

import ctypes
import importlib
import re
import sys
import warnings
from datetime import timedelta
from typing import Any, Callable, Dict, Optional

import torch
from torch.distributed import distributed_c10d as c10d

#: The oldest torch that is supported, and the newest that was tested. Before 2.7 torch dropped a
#: work that is written in Python while C++ code, such as DDP's, held it, and then waited for ever.
OLDEST = (2, 7)
NEWEST = (2, 15)

#: What no version can be without: the modules or classes, and their names.
NEEDED = (
    ("torch.distributed.distributed_c10d", "_World"),
    ("torch.distributed.distributed_c10d", "_world"),
    ("torch.distributed.distributed_c10d", "BackendConfig"),
    ("torch.distributed.distributed_c10d", "_new_process_group_helper"),
    ("torch.distributed.rendezvous", "_rendezvous_handlers"),
    ("torch._C._autograd", "_profiler_enabled"),
    ("torch._C._autograd", "_record_function_with_args_enter"),
    ("torch._C._autograd", "_record_function_with_args_exit"),
    ("torch._C._distributed_c10d", "Backend"),
)


def find(module: str) -> Any:
    """Return a module of torch."""
    # By name: torch.distributed.rendezvous is a function in some versions, and hides the module.
    return importlib.import_module(module)


def check(version: str) -> None:
    """Refuse a torch that lacks what the backend needs, and warn of one that was never tested.

    :raises ImportError: with the versions that there may be
    """
    found = tuple(int(each) for each in re.findall(r"\d+", version)[:2])
    oldest, newest = (".".join(map(str, each)) for each in (OLDEST, NEWEST))
    if found < OLDEST:
        raise ImportError(
            f"spark_collectives.torch needs torch {oldest} or later, and this is torch {version}"
        )
    if found > NEWEST:
        warnings.warn(
            f"torch {version} is newer than {newest}, the newest with which "
            "spark_collectives.torch was tested",
            stacklevel=2,
        )
    missing = [f"{module}.{name}" for module, name in NEEDED if not hasattr(find(module), name)]
    if missing:
        raise ImportError(
            f"torch {version} is too new for this version of spark_collectives, which needs its "
            f"{', '.join(missing)}. Install a torch from {oldest} to {newest}"
        )


check(torch.__version__)

_OWN = "spark"

#: A constant of OpenMP's header.
_OMP_PAUSE_HARD = 2

#: Whether torch can shrink a group of a backend that is written in Python.
CAN_SHRINK = hasattr(c10d, "_create_shrunk_process_group")

#: Whether torch can change the members of a group.
CAN_RECONFIGURE = hasattr(c10d, "_reconfigure")

VERSION: str = torch.__version__

#: What torch's ``get_error`` returns for a group without one; None in versions without that.
NO_ERROR: Any = getattr(getattr(torch._C._distributed_c10d, "ErrorType", None), "SUCCESS", None)

#: Whether torch asks for the timeout of a group whose user has given none.
ASKS_FOR_TIMEOUT = hasattr(c10d, "_get_default_timeout")


def install(default_timeout: Callable[[], timedelta], meant: Callable[[str], str]) -> None:
    """Prepare torch for groups of the backend ``"spark"``; once in a process.

    :param default_timeout: returns the timeout of a group whose user has given none
    :param meant: returns the backend of the default group when its user names one
    """
    c10d._new_process_group_helper = _with_backend(c10d._new_process_group_helper, meant)
    # torch's flight recorder hooks into C++ backends; the library records operations itself.
    if hasattr(c10d, "_FR_SELF_RECORDING_BACKENDS"):
        c10d._FR_SELF_RECORDING_BACKENDS.add(_OWN)
    c10d.BackendConfig.get_device_backend_map = _own_last(c10d.BackendConfig.get_device_backend_map)
    if hasattr(c10d, "_maybe_attach_flight_recorder"):
        c10d._maybe_attach_flight_recorder = _of_base(c10d._maybe_attach_flight_recorder)
    if ASKS_FOR_TIMEOUT:
        c10d._get_default_timeout = _own_timeout(c10d._get_default_timeout, default_timeout, meant)
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


def _with_backend(original: Any, meant: Callable[[str], str]) -> Any:
    """Let torch create the default group with another backend than the one that is named."""

    def create(size: Any, rank: Any, ranks: Any, backend: Any, *others: Any, **named: Any) -> Any:
        # torch lists the ranks of every other group.
        if not ranks and meant(str(backend)) != backend:
            backend = c10d.Backend(meant(str(backend)))
        return original(size, rank, ranks, backend, *others, **named)

    return create


def _own_timeout(
    original: Any, default_timeout: Callable[[], timedelta], meant: Callable[[str], str]
) -> Any:
    """Give groups of this backend the timeout of Spark's settings."""

    def get_default_timeout(backend: Any) -> timedelta:
        if c10d._world.default_pg is None:
            backend = meant(str(backend))
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


#: The options with which torch creates a backend; older versions have them elsewhere.
Options: Any = getattr(torch._C._distributed_c10d.Backend, "Options", None)
if Options is None:
    Options = c10d.ProcessGroup.Options

for _owner, _attribute in ((Options, "_timeout"), (c10d._world, "_default_pg")):
    if not hasattr(_owner, _attribute):
        raise ImportError(
            f"torch {torch.__version__} is too new for this version of spark_collectives, which "
            f"needs {_attribute} of its {getattr(_owner, '__name__', '_world')}"
        )

#: torch's own state of a process.
World: Any = c10d._World

# What a profiler is told.
profiler_enabled: Callable[[], bool] = torch._C._autograd._profiler_enabled
begin_event: Any = torch._C._autograd._record_function_with_args_enter
end_event: Any = torch._C._autograd._record_function_with_args_exit


def replace_world(kind: Callable[[], Any]) -> Optional[Any]:
    """Replace torch's state by one of another kind, and return it.

    Does nothing, and returns None, if it was replaced already.
    """
    if type(c10d._world) is not World:
        return None
    world = kind()
    world.__dict__.update(c10d._world.__dict__)
    c10d._world = world
    return world


def set_global_ranks(group: Any, size: int) -> None:
    """Let the ranks of the default group, whose size has changed, be the global ranks.

    torch keeps the ranks that a group has had at first.
    """
    if group is c10d._world.default_pg:
        c10d._world.pg_group_ranks[group] = {rank: rank for rank in range(size)}


def rendezvous_handlers() -> Dict[str, Callable[..., Any]]:
    """Return what torch calls to let ranks meet, by the scheme of the address."""
    handlers: Dict[str, Callable[..., Any]] = find(
        "torch.distributed.rendezvous"
    )._rendezvous_handlers
    return handlers


def end_compute_threads() -> None:
    """End the threads that have computed for this thread; the next operation begins new ones.

    A forked process has none of them, and GNU's OpenMP, with which torch is built for Linux, would
    wait for them there.
    """
    end = getattr(ctypes.CDLL(torch._C.__file__), "omp_pause_resource_all", None)
    if end is not None:
        end(_OMP_PAUSE_HARD)


def count_of_elements(sparse: torch.Tensor) -> int:
    """Return the number of elements that a sparse tensor has."""
    return int(sparse._nnz())


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

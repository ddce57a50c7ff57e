"""The groups of a task: joining the world group, making other groups, and the ranks in them."""

from __future__ import annotations

import warnings
from typing import Any, List, Optional, Union

from . import _backends, _codes, _connection, _debug_level, _task
from ._frames import Request
from .process_group import ProcessGroup
from .work import Seconds, millis


class NonGroupMember:
    """The result of :func:`new_group` on ranks that are not in the group."""

    def __repr__(self) -> str:
        return "NON_GROUP_MEMBER"


NON_GROUP_MEMBER = NonGroupMember()

#: A group as functions take it: None for the world group.
Group = Union[ProcessGroup, NonGroupMember, None]


def init_process_group(
    backend: Optional[str] = None,
    init_method: Optional[str] = None,
    timeout: Optional[Seconds] = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> ProcessGroup:
    """Join the world group of this barrier task: all tasks of the stage, by partition.

    Blocks until all tasks of the stage have called it, for the smaller of ``timeout`` and
    ``spark.collectives.store.timeout`` (5 minutes). Another call in the same task, also inside
    :func:`run`, returns the same group and ignores its arguments. After
    :func:`destroy_process_group` it joins a new group, as all other ranks must.

    :param backend: ``"spark"`` or ``"gloo"``, which mean the same here, or one of the Java library,
        such as ``"fake"``
    :param init_method: ``"env://"`` or ``"spark://"``: both use the driver
    :param timeout: how long an operation may take; by default ``spark.collectives.timeout``
    :param world_size: if given, the number of the stage's tasks
    :param rank: if given, the task's partition
    :param store: must be None: the ranks use the driver's store
    :param group_name: ignored, as in torch
    :param pg_options: must be None
    :param device_id: must be None, or the CPU
    :raises TypeError: if the backend is not a string
    :raises ValueError: if an argument has a value that is not supported
    :raises RuntimeError: outside of a barrier task, or if the application lacks the plugin
    :raises CollectiveTimeoutError: if the ``missing_ranks`` have not called it in time
    """
    name = _backends.checked(backend)
    _require_usual(init_method, store, pg_options, device_id)
    task = _task.connect()
    joined: Optional[ProcessGroup] = task.world
    if joined is None:
        wait_ms = millis(timeout)
        reply = task.connection().call(
            Request(_codes.JOIN, timeout_ms=wait_ms, body=_debug_level.pack_options(name)),
            task.store_wait + 2 * _connection.MARGIN_SECONDS,
        )
        joined = ProcessGroup(task, reply, wait_ms, name or "spark")
        _require_place(joined, rank, world_size)
        task.world = task.joined = joined
    else:
        _require_place(joined, rank, world_size)
    return joined


def _require_place(joined: ProcessGroup, rank: int, world_size: int) -> None:
    """Refuse another rank or size than those of the group; -1 is not compared."""
    if rank not in (-1, joined.rank) or world_size not in (-1, joined.size):
        raise ValueError(
            f"Rank {rank} of {world_size} was given, and this task is rank {joined.rank} of "
            f"{joined.size}: the rank of a task is its partition. Leave rank and world_size out"
        )


def _require_usual(init_method: Optional[str], store: Any, options: Any, device: Any) -> None:
    """Refuse what has no meaning here."""
    if init_method not in (None, "env://", "spark://"):
        raise ValueError(
            f'The init_method "{init_method}" cannot be used: the ranks of a barrier stage find '
            "each other through the driver. Leave it out"
        )
    if store is not None:
        raise ValueError(
            "A store cannot be given: the ranks of a barrier stage find each other through that of "
            "the driver, which store() returns"
        )
    if options is not None:
        raise ValueError("pg_options cannot be given: the backend has no options")
    require_cpu(device)


def require_cpu(device: Any) -> None:
    """Refuse a device other than the CPU."""
    if device is not None and str(device) != "cpu":
        raise ValueError(f"The device must be the CPU, where arrays are, and not {device}")


def is_available() -> bool:
    """Return True: the package can always be used."""
    return True


def is_initialized() -> bool:
    """Return whether this task has joined its world group and has not left it."""
    task = _task.current()
    return task is not None and task.world is not None


def world() -> ProcessGroup:
    """Return the world group of this task."""
    task = _task.current()
    if task is None or task.world is None:
        raise RuntimeError(
            "The task has not joined its world group: call "
            "spark_collectives.init_process_group() first"
        )
    joined: ProcessGroup = task.world
    return joined


def member(group: Group) -> Optional[ProcessGroup]:
    """Return the group to call, or warn and return None if this rank is not in it."""
    if isinstance(group, NonGroupMember):
        warnings.warn("This rank is not in the group: the call does nothing", stacklevel=3)
        return None
    return world() if group is None else group


def required(group: Group) -> ProcessGroup:
    """Return the group to ask, which this rank must be in.

    :raises ValueError: if it is not
    """
    if isinstance(group, NonGroupMember):
        raise ValueError("This rank is not in the group: only its members may make this call")
    return world() if group is None else group


class _WithWorld(type):
    """The class of classes that have the world group as an attribute."""

    @property
    def WORLD(cls) -> Optional[ProcessGroup]:
        """The world group of this task; None if it has not joined."""
        task = _task.current()
        found: Optional[ProcessGroup] = None if task is None else task.world
        return found


class group(metaclass=_WithWorld):
    """Holds the world group: ``group.WORLD``, which is None before the task joins."""


class GroupMember(metaclass=_WithWorld):
    """Holds ``WORLD``, the world group or None, and ``NON_GROUP_MEMBER``."""

    NON_GROUP_MEMBER = NON_GROUP_MEMBER


def get_rank(group: Group = None) -> int:
    """Return the rank of this task in the group; -1 outside of it."""
    if isinstance(group, NonGroupMember):
        return -1
    return (group or world()).rank


def get_world_size(group: Group = None) -> int:
    """Return the number of ranks in the group; -1 outside of it."""
    if isinstance(group, NonGroupMember):
        return -1
    return (group or world()).size


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the rank in the group of a rank of the world group."""
    ranks = required(group).global_ranks
    try:
        return ranks.index(global_rank)
    except ValueError:
        raise ValueError(f"Global rank {global_rank} is not in {group!r}") from None


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Return the rank in the world group of a rank of the group."""
    if not 0 <= group_rank < required(group).size:
        raise ValueError(f"There is no rank {group_rank} in {group!r}")
    return group.global_ranks[group_rank]


def get_process_group_ranks(group: Optional[ProcessGroup] = None) -> List[int]:
    """Return the global ranks of the group, in the order of their ranks in it."""
    return list(required(group).global_ranks)


def get_backend(group: Optional[ProcessGroup] = None) -> str:
    """Return the name of the group's backend: ``"spark"``, unless another was asked for."""
    return required(group).backend


def get_backend_config(group: Optional[ProcessGroup] = None) -> str:
    """Return the group's backend for each kind of device: ``"cpu:spark"``, or another's name."""
    return f"cpu:{get_backend(group)}"


def get_node_local_rank(fallback_rank: Optional[int] = None) -> int:
    """Return this rank's number among the ranks of its host, from 0.

    :param fallback_rank: the result in a process that has not joined its world group
    """
    if fallback_rank is not None and not is_initialized():
        return fallback_rank
    return world().local_rank


def set_timeout(timeout: Seconds, group: Optional[ProcessGroup] = None) -> None:
    """Set the default timeout of this rank's operations that begin from now on.

    :param timeout: seconds, or a ``timedelta``
    """
    required(group).set_timeout(timeout)


def peer(
    group: ProcessGroup, name: str, global_rank: Optional[int], group_rank: Optional[int]
) -> int:
    """Return the rank in the group of a peer, which is given by one of its two ranks.

    :param name: the argument for the global rank, such as ``src``; the other is ``group_src``
    """
    if (global_rank is None) == (group_rank is None):
        raise ValueError(f"Give either {name} or group_{name}")
    if group_rank is not None:
        get_global_rank(group, group_rank)
        return group_rank
    assert global_rank is not None
    return get_group_rank(group, global_rank)


def root(
    group: ProcessGroup, name: str, global_rank: Optional[int], group_rank: Optional[int]
) -> int:
    """Return the rank in the group of a root as :func:`peer` does; by default it is rank 0."""
    if global_rank is None and group_rank is None:
        return 0
    return peer(group, name, global_rank, group_rank)


def destroy_process_group(group: Group = None) -> None:
    """Leave the group; to leave the world group is to leave all groups of this task.

    Waits for the pending operations of this rank; those not done after the timeout abort the group.
    Other ranks may go on with operations that do not need this one. The end of the task leaves all
    groups, too.

    :param group: by default the world group
    """
    if isinstance(group, NonGroupMember):
        return
    task = _task.current()
    if task is None or task.world is None:
        return
    if group is not None and group is not task.world:
        group.close()
        return
    try:
        task.world.close()
        task.joined.close()
    finally:
        task.world = task.joined = None
        task.close()


def abort_process_group(reason: str = "aborted", group: Group = None) -> None:
    """Abort the group on every rank; its operations then raise with this reason. Does not block."""
    called = member(group)
    if called is not None:
        called.abort(reason)

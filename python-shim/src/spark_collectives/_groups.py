"""The groups of a task: joining the world group, making other groups, and the ranks in them."""

from __future__ import annotations

import warnings
from typing import List, Optional, Sequence, Union

from . import _codes, _connection, _task
from .process_group import ProcessGroup
from .work import Seconds, millis


class NonGroupMember:
    """The result of :func:`new_group` on ranks that are not in the group."""

    def __repr__(self) -> str:
        return "NON_GROUP_MEMBER"


NON_GROUP_MEMBER = NonGroupMember()

#: A group as functions take it: None for the world group.
Group = Union[ProcessGroup, NonGroupMember, None]


def init_process_group(timeout: Optional[Seconds] = None) -> ProcessGroup:
    """Join the world group of this barrier task: all tasks of the stage, by partition.

    Blocks until all tasks of the stage have called it, for ``spark.collectives.store.timeout`` at
    the most. Another call in the same task returns the same group.

    :param timeout: how long an operation may take; by default ``spark.collectives.timeout``
    """
    task = _task.connect()
    if task.world is None:
        wait_ms = millis(timeout)
        reply = task.connection().call(
            _codes.JOIN,
            timeout_ms=wait_ms,
            patience=task.store_wait + 2 * _connection.MARGIN_SECONDS,
        )
        task.world = ProcessGroup(task, reply, wait_ms)
    joined: ProcessGroup = task.world
    return joined


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
    try:
        return group.global_ranks.index(global_rank)
    except ValueError:
        raise ValueError(f"Global rank {global_rank} is not in {group!r}") from None


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Return the rank in the world group of a rank of the group."""
    if not 0 <= group_rank < group.size:
        raise ValueError(f"There is no rank {group_rank} in {group!r}")
    return group.global_ranks[group_rank]


def get_process_group_ranks(group: Optional[ProcessGroup] = None) -> List[int]:
    """Return the global ranks of the group, in the order of their ranks in it."""
    return list((group or world()).global_ranks)


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


def new_group(
    ranks: Optional[Sequence[int]] = None,
    timeout: Optional[Seconds] = None,
    *,
    use_local_synchronization: bool = False,
    group_desc: str = "",
) -> Union[ProcessGroup, NonGroupMember]:
    """Create a group of some ranks; called by all ranks of the world group, in the same order.

    With ``use_local_synchronization`` only its members call it. ``ranks=None`` means all ranks.
    """
    made = world().new_group(
        () if ranks is None else ranks,
        timeout=timeout,
        use_local_synchronization=use_local_synchronization,
        description=group_desc,
    )
    return NON_GROUP_MEMBER if made is None else made


def destroy_process_group(group: Group = None) -> None:
    """Leave the group; to leave the world group is to leave all groups of this task.

    Waits for the pending operations of this rank. The end of the task leaves all groups, too.
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
    finally:
        task.world = None
        task.close()


def abort_process_group(reason: str = "aborted", group: Group = None) -> None:
    """Abort the group on every rank; its operations then raise with this reason."""
    called = member(group)
    if called is not None:
        called.abort(reason)

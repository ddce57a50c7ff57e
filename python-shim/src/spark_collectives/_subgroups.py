"""Groups made from others, with the functions of ``torch.distributed``."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

from . import _backends, _groups, _task
from ._groups import NON_GROUP_MEMBER, NonGroupMember
from .process_group import ProcessGroup
from .work import Seconds

#: What :func:`shrink_group` does with pending operations: leaves them, or aborts them first.
SHRINK_DEFAULT = 0
SHRINK_ABORT = 1

MaybeGroup = Union[ProcessGroup, NonGroupMember]


def new_group(
    ranks: Optional[Sequence[int]] = None,
    timeout: Optional[Seconds] = None,
    backend: Optional[str] = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: Optional[str] = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> MaybeGroup:
    """Create a group of some ranks; called by all ranks of the world group, in the same order.

    Returns :data:`NON_GROUP_MEMBER` on ranks that are not in it. Takes one call of the store, and
    does not wait for other ranks.

    :param ranks: None means all ranks
    :param timeout: how long an operation may take; by default as in the world group
    :param backend: as :func:`init_process_group` takes it; by default as in the world group
    :param pg_options: must be None
    :param use_local_synchronization: whether only the members call it
    :param group_desc: shown in diagnosis
    :param device_id: must be None, or the CPU
    :param sort_ranks: whether to order the new group by global ranks, and not as in ``ranks``
    :raises ValueError: if ``ranks`` is empty, or if a rank is named twice or does not exist
    """
    world = _groups.world()
    name = _backends.checked(backend)
    if pg_options is not None:
        raise ValueError("pg_options cannot be given: the backend has no options")
    _groups.require_cpu(device_id)
    if ranks is not None and not len(ranks):
        raise ValueError("A group needs at least one rank")
    members = list(() if ranks is None else ranks)
    if use_local_synchronization and members and world.rank not in members:
        return NON_GROUP_MEMBER
    made = world.new_group(
        sorted(members) if sort_ranks else members,
        timeout=timeout,
        use_local_synchronization=use_local_synchronization,
        description=group_desc or "",
        backend=name,
    )
    return NON_GROUP_MEMBER if made is None else made


def new_subgroups(
    group_size: Optional[int] = None,
    group: Optional[ProcessGroup] = None,
    timeout: Optional[Seconds] = None,
    backend: Optional[str] = None,
    pg_options: Any = None,
    group_desc: Optional[str] = None,
) -> Tuple[ProcessGroup, List[MaybeGroup]]:
    """Create groups of ``group_size`` consecutive ranks; return this rank's, and all of them.

    Called by all ranks of the world group.

    :param group_size: by default the number of ranks on this rank's host, which assumes hosts with
        equally many consecutive ranks; :meth:`ProcessGroup.new_local_group` does not
    :param group: the group whose ranks are put in groups; by default the world group
    :raises ValueError: if the size of the group is not a multiple of ``group_size``
    """
    whole = _groups.required(group)
    size = whole.local_size if group_size is None else group_size
    if size <= 0 or whole.size % size:
        raise ValueError(
            f"The group of {whole.size} ranks cannot be put in groups of {size}: the number of "
            "ranks must be a multiple of group_size, which must be positive"
        )
    ranks = whole.global_ranks
    own, made = new_subgroups_by_enumeration(
        [ranks[at : at + size] for at in range(0, len(ranks), size)],
        timeout,
        backend,
        pg_options,
        group_desc,
    )
    assert isinstance(own, ProcessGroup)
    return own, made


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: Optional[Seconds] = None,
    backend: Optional[str] = None,
    pg_options: Any = None,
    group_desc: Optional[str] = None,
) -> Tuple[Optional[MaybeGroup], List[MaybeGroup]]:
    """Create groups that have no rank in common; return this rank's, and all of them.

    Called by all ranks of the world group. This rank's is None if it is in none of them.

    :raises ValueError: if a rank is in two groups
    """
    if not ranks_per_subgroup_list:
        raise ValueError("ranks_per_subgroup_list must not be empty")
    _require_apart(ranks_per_subgroup_list)
    made = [
        new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        for ranks in ranks_per_subgroup_list
    ]
    own = [each for each in made if isinstance(each, ProcessGroup)]
    return (own[0] if own else None), made


def split_group(
    parent_pg: Optional[ProcessGroup] = None,
    split_ranks: Optional[Sequence[Sequence[int]]] = None,
    timeout: Optional[Seconds] = None,
    pg_options: Any = None,
    group_desc: Optional[str] = None,
    backend: Optional[str] = None,
) -> MaybeGroup:
    """Split a group; return this rank's part, :data:`NON_GROUP_MEMBER` if it is in none.

    Called by all ranks of the group. Does not wait for other ranks.

    :param parent_pg: by default the world group
    :param split_ranks: the parts, each as ranks of ``parent_pg`` in the order of their ranks in the
        new group; a rank is in one part at the most
    :param timeout: how long an operation may take; by default as in ``parent_pg``
    """
    parent = _groups.required(parent_pg)
    name = _backends.checked(backend)
    if pg_options is not None:
        raise ValueError("pg_options cannot be given: the backend has no options")
    if not split_ranks:
        raise ValueError("split_ranks must not be None or empty")
    _require_apart(split_ranks)
    for part in split_ranks:
        for rank in part:
            _groups.get_global_rank(parent, rank)
    for part in split_ranks:
        if parent.rank in part:
            made = parent.new_group(
                [parent.global_ranks[rank] for rank in part],
                timeout=timeout,
                use_local_synchronization=True,
                description=group_desc or "",
                backend=name,
            )
            assert made is not None
            return made
    return NON_GROUP_MEMBER


def _require_apart(parts: Sequence[Sequence[int]]) -> None:
    seen: List[int] = []
    for part in parts:
        for rank in part:
            if rank in seen:
                raise ValueError(f"Rank {rank} is named twice in {[list(each) for each in parts]}")
            seen.append(rank)


def shrink_group(
    ranks_to_exclude: Sequence[int],
    group: Optional[ProcessGroup] = None,
    shrink_flags: int = SHRINK_DEFAULT,
    pg_options: Any = None,
) -> ProcessGroup:
    """Create a group without some ranks; called by those that remain, with the same arguments.

    It is the only operation that works in a group that has failed. A shrunk world group is
    replaced: the ranks of the new group are the global ranks from then on, and groups that were
    made before must not be used any more. Any other group must still be destroyed.

    :param ranks_to_exclude: at least one, as ranks of the group
    :param group: by default the world group
    :param shrink_flags: :data:`SHRINK_DEFAULT`, or :data:`SHRINK_ABORT` to abort the old group
        first, on every rank, which ends operations that wait for an excluded rank
    :param pg_options: must be None
    :raises ValueError: if the ranks or flags make no sense
    :raises RuntimeError: if this rank is among those that are excluded
    """
    target = _groups.required(group)
    if pg_options is not None:
        raise ValueError("pg_options cannot be given: the backend has no options")
    if shrink_flags not in (SHRINK_DEFAULT, SHRINK_ABORT):
        raise ValueError(f"shrink_flags must be SHRINK_DEFAULT or SHRINK_ABORT, not {shrink_flags}")
    if target.rank in ranks_to_exclude:
        raise RuntimeError(
            f"Rank {target.rank} is among the ranks to exclude, {list(ranks_to_exclude)}: only "
            "ranks that remain call shrink_group"
        )
    made = target.shrink(ranks_to_exclude, abort=shrink_flags == SHRINK_ABORT)
    task = _task.current()
    if task is not None and task.world is target:
        task.numbering.shrunk_to(task.numbering.to_original(made.global_ranks))
        made.global_ranks = tuple(range(made.size))
        task.world = made
    return made

"""The functions of ``torch.distributed``, for numpy arrays and CPU tensors.

Ranks in this module are those of the world group, as in ``torch.distributed``, unless an argument's
name begins with ``group_``.
"""

from __future__ import annotations

import warnings
from typing import Any, Callable, List, Optional, Sequence, Union

from . import _codes, _connection, _task
from .process_group import ProcessGroup
from .reduce_op import ReduceOp
from .store import Store
from .work import Seconds, Work, millis


class NonGroupMember:
    """What :func:`new_group` gives to ranks that are not in the group."""

    def __repr__(self) -> str:
        return "NON_GROUP_MEMBER"


NON_GROUP_MEMBER = NonGroupMember()

#: A group as functions take it: None for the world group.
Group = Union[ProcessGroup, NonGroupMember, None]


def init_process_group(timeout: Optional[Seconds] = None) -> ProcessGroup:
    """Join the world group of this barrier task: all tasks of the stage, by partition.

    Blocks until all tasks of the stage have called it, for ``spark.collectives.store.timeout`` at
    the most. Calling it again in the task gives the same group.

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
    """Say whether the package can be used; it always can."""
    return True


def is_initialized() -> bool:
    """Say whether this task has joined its world group, and not left it."""
    task = _task.current()
    return task is not None and task.world is not None


def world() -> ProcessGroup:
    """Give the world group of this task."""
    task = _task.current()
    if task is None or task.world is None:
        raise RuntimeError(
            "The task has not joined its world group: call "
            "spark_collectives.init_process_group() first"
        )
    joined: ProcessGroup = task.world
    return joined


def _member(group: Group) -> Optional[ProcessGroup]:
    if isinstance(group, NonGroupMember):
        warnings.warn("This rank is not in the group: the call does nothing", stacklevel=3)
        return None
    return world() if group is None else group


def get_rank(group: Group = None) -> int:
    """Give the rank of this task in the group; -1 outside of it."""
    if isinstance(group, NonGroupMember):
        return -1
    return (group or world()).rank


def get_world_size(group: Group = None) -> int:
    """Give the number of ranks in the group; -1 outside of it."""
    if isinstance(group, NonGroupMember):
        return -1
    return (group or world()).size


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Give the rank in the group of a rank of the world group."""
    try:
        return group.global_ranks.index(global_rank)
    except ValueError:
        raise ValueError(f"Global rank {global_rank} is not in {group!r}") from None


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Give the rank in the world group of a rank of the group."""
    if not 0 <= group_rank < group.size:
        raise ValueError(f"There is no rank {group_rank} in {group!r}")
    return group.global_ranks[group_rank]


def get_process_group_ranks(group: Optional[ProcessGroup] = None) -> List[int]:
    """Give the global ranks of the group, in the order of their ranks in it."""
    return list((group or world()).global_ranks)


def _peer(
    group: ProcessGroup, name: str, global_rank: Optional[int], group_rank: Optional[int]
) -> int:
    if (global_rank is None) == (group_rank is None):
        raise ValueError(f"Give either {name} or group_{name}")
    if group_rank is not None:
        get_global_rank(group, group_rank)
        return group_rank
    assert global_rank is not None
    return get_group_rank(group, global_rank)


def _root(
    group: ProcessGroup, name: str, global_rank: Optional[int], group_rank: Optional[int]
) -> int:
    if global_rank is None and group_rank is None:
        return 0
    return _peer(group, name, global_rank, group_rank)


def new_group(
    ranks: Optional[Sequence[int]] = None,
    timeout: Optional[Seconds] = None,
    *,
    use_local_synchronization: bool = False,
    group_desc: str = "",
) -> Union[ProcessGroup, NonGroupMember]:
    """Make a group of some ranks; called by all ranks of the world group, in the same order.

    With ``use_local_synchronization``: by its members only. None means all ranks.
    """
    made = world().new_group(
        () if ranks is None else ranks,
        timeout=timeout,
        use_local_synchronization=use_local_synchronization,
        description=group_desc,
    )
    return NON_GROUP_MEMBER if made is None else made


def destroy_process_group(group: Group = None) -> None:
    """Leave the group, and with the world group all others of this task.

    Waits for pending operations of this rank. It is done at the end of the task, too.
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
    """End the group on every rank, whose operations then raise with this reason."""
    member = _member(group)
    if member is not None:
        member.abort(reason)


def broadcast(
    tensor: Any,
    src: Optional[int] = None,
    group: Group = None,
    async_op: bool = False,
    group_src: Optional[int] = None,
) -> Optional[Work]:
    """Send the tensor of one rank to all."""
    member = _member(group)
    if member is None:
        return None
    return member.broadcast(tensor, _peer(member, "src", src, group_src), async_op=async_op)


def all_reduce(
    tensor: Any, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Optional[Work]:
    """Reduce the tensor over all ranks, in place, to the same bits on every rank."""
    member = _member(group)
    return None if member is None else member.all_reduce(tensor, op, async_op=async_op)


def all_reduce_coalesced(
    tensors: Sequence[Any],
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Optional[Work]:
    """Reduce each of the tensors over all ranks, in place, as one operation."""
    member = _member(group)
    return None if member is None else member.all_reduce_coalesced(tensors, op, async_op=async_op)


def reduce(
    tensor: Any,
    dst: Optional[int] = None,
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
    group_dst: Optional[int] = None,
) -> Optional[Work]:
    """Reduce the tensor over all ranks, in place at one rank; elsewhere it is only read."""
    member = _member(group)
    if member is None:
        return None
    return member.reduce(tensor, _peer(member, "dst", dst, group_dst), op, async_op=async_op)


def all_gather(
    tensor_list: Sequence[Any], tensor: Any, group: Group = None, async_op: bool = False
) -> Optional[Work]:
    """Gather the tensors of all ranks, one in each of ``tensor_list``; sizes may differ by rank."""
    member = _member(group)
    return None if member is None else member.all_gather(tensor_list, tensor, async_op=async_op)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Group = None, async_op: bool = False
) -> Optional[Work]:
    """Gather the tensors of all ranks, in rank order, in one tensor."""
    member = _member(group)
    if member is None:
        return None
    return member.all_gather_into(output_tensor, input_tensor, async_op=async_op)


def gather(
    tensor: Any,
    gather_list: Optional[Sequence[Any]] = None,
    dst: Optional[int] = None,
    group: Group = None,
    async_op: bool = False,
    group_dst: Optional[int] = None,
) -> Optional[Work]:
    """Gather the tensors of all ranks at one, which alone gives ``gather_list``."""
    member = _member(group)
    if member is None:
        return None
    root = _root(member, "dst", dst, group_dst)
    return member.gather(gather_list or (), tensor, root, async_op=async_op)


def scatter(
    tensor: Any,
    scatter_list: Optional[Sequence[Any]] = None,
    src: Optional[int] = None,
    group: Group = None,
    async_op: bool = False,
    group_src: Optional[int] = None,
) -> Optional[Work]:
    """Give each rank one of the tensors of one rank, which alone gives ``scatter_list``."""
    member = _member(group)
    if member is None:
        return None
    root = _root(member, "src", src, group_src)
    return member.scatter(tensor, scatter_list or (), root, async_op=async_op)


def reduce_scatter(
    output: Any,
    input_list: Sequence[Any],
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Optional[Work]:
    """Reduce the lists of all ranks, and leave each rank its part; sizes may differ by rank."""
    member = _member(group)
    if member is None:
        return None
    return member.reduce_scatter(output, input_list, op, async_op=async_op)


def reduce_scatter_tensor(
    output: Any,
    input: Any,
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Optional[Work]:
    """Reduce the tensor of all ranks, and leave each rank its part, in rank order."""
    member = _member(group)
    if member is None:
        return None
    return member.reduce_scatter_into(output, input, op, async_op=async_op)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Optional[Sequence[int]] = None,
    input_split_sizes: Optional[Sequence[int]] = None,
    group: Group = None,
    async_op: bool = False,
) -> Optional[Work]:
    """Send parts of the input, one to each rank, and receive one from each."""
    member = _member(group)
    if member is None:
        return None
    return member.all_to_all_into(
        output, input, output_split_sizes, input_split_sizes, async_op=async_op
    )


def all_to_all(
    output_tensor_list: Sequence[Any],
    input_tensor_list: Sequence[Any],
    group: Group = None,
    async_op: bool = False,
) -> Optional[Work]:
    """Send each rank one of the tensors, and receive one from each."""
    member = _member(group)
    if member is None:
        return None
    return member.all_to_all(output_tensor_list, input_tensor_list, async_op=async_op)


def barrier(group: Group = None, async_op: bool = False) -> Optional[Work]:
    """Wait until all ranks have called it."""
    member = _member(group)
    return None if member is None else member.barrier(async_op=async_op)


def monitored_barrier(
    group: Group = None, timeout: Optional[Seconds] = None, wait_all_ranks: bool = False
) -> None:
    """Wait until all ranks have called it, and raise with the names of those that do not come.

    Unlike the deadline of other operations, this one does not end the group.
    """
    member = _member(group)
    if member is not None:
        member.monitored_barrier(timeout, wait_all_ranks)


def isend(
    tensor: Any,
    dst: Optional[int] = None,
    group: Group = None,
    tag: int = 0,
    group_dst: Optional[int] = None,
) -> Optional[Work]:
    """Begin to send the tensor to one rank."""
    member = _member(group)
    if member is None:
        return None
    return member.send(tensor, _peer(member, "dst", dst, group_dst), tag, async_op=True)


def irecv(
    tensor: Any,
    src: Optional[int] = None,
    group: Group = None,
    tag: int = 0,
    group_src: Optional[int] = None,
) -> Optional[Work]:
    """Begin to receive from one rank, or without ``src`` from whichever sends first."""
    member = _member(group)
    if member is None:
        return None
    if src is None and group_src is None:
        return member.irecv(tensor, None, tag)
    return member.irecv(tensor, _peer(member, "src", src, group_src), tag)


def send(
    tensor: Any,
    dst: Optional[int] = None,
    group: Group = None,
    tag: int = 0,
    group_dst: Optional[int] = None,
) -> None:
    """Send the tensor to one rank; done when that has called a ``recv`` that matches."""
    member = _member(group)
    if member is not None:
        member.send(tensor, _peer(member, "dst", dst, group_dst), tag)


def recv(
    tensor: Any,
    src: Optional[int] = None,
    group: Group = None,
    tag: int = 0,
    group_src: Optional[int] = None,
) -> int:
    """Receive from one rank, or without ``src`` from whichever sends first; return which."""
    member = _member(group)
    if member is None:
        return -1
    anyone = src is None and group_src is None
    source = None if anyone else _peer(member, "src", src, group_src)
    return get_global_rank(member, member.recv(tensor, source, tag))


class P2POp:
    """A message of a batch: ``op`` is :func:`isend` or :func:`irecv`."""

    def __init__(
        self,
        op: Callable[..., Optional[Work]],
        tensor: Any,
        peer: Optional[int] = None,
        group: Group = None,
        tag: int = 0,
        group_peer: Optional[int] = None,
    ) -> None:
        if op is not isend and op is not irecv:
            raise ValueError(f"A batch holds isend and irecv of spark_collectives, not {op}")
        self.op = op
        self.tensor = tensor
        self.group = group
        self.tag = tag
        self.peer = peer
        self.group_peer = group_peer


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> List[Work]:
    """Begin several messages of one group; their order does not matter."""
    if not p2p_op_list:
        raise ValueError("The batch is empty")
    group = p2p_op_list[0].group
    if any(each.group is not group for each in p2p_op_list):
        raise ValueError("All messages of a batch must be of one group")
    member = _member(group)
    if member is None:
        return []
    return member.batch(
        [
            (
                each.op is isend,
                each.tensor,
                _peer(member, "peer", each.peer, each.group_peer),
                each.tag,
            )
            for each in p2p_op_list
        ]
    )


def store(group: Group = None) -> Store:
    """Give the group's part of the driver's store, for keys of one's own."""
    member = _member(group)
    if member is None:
        raise ValueError("This rank is not in the group")
    return member.store()


def checkpoint(
    name: str, tensors: Sequence[Any], group: Group = None, *, replicated: bool = False
) -> None:
    """Keep the tensors in the driver for later attempts of the stage. See :meth:`restore`."""
    member = _member(group)
    if member is not None:
        member.checkpoint(name, tensors, replicated=replicated)


def restore(name: str, tensors: Sequence[Any], group: Group = None) -> bool:
    """Overwrite the tensors with what was kept last under this name; false if nothing was."""
    member = _member(group)
    return False if member is None else member.restore(name, tensors)

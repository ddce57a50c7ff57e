"""The point-to-point functions of ``torch.distributed``, with ranks of the world group."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence

from . import _groups
from ._groups import Group
from .process_group import ProcessGroup
from .work import Work


def isend(
    tensor: Any,
    dst: Optional[int] = None,
    group: Group = None,
    tag: int = 0,
    group_dst: Optional[int] = None,
) -> Optional[Work]:
    """Begin to send the tensor to one rank."""
    member = _groups.member(group)
    if member is None:
        return None
    return member.send(tensor, _groups.peer(member, "dst", dst, group_dst), tag, async_op=True)


def irecv(
    tensor: Any,
    src: Optional[int] = None,
    group: Group = None,
    tag: int = 0,
    group_src: Optional[int] = None,
) -> Optional[Work]:
    """Begin to receive from one rank; without ``src``, from whichever rank sends first."""
    member = _groups.member(group)
    if member is None:
        return None
    return member.irecv(tensor, source_of(member, src, group_src), tag)


def send(
    tensor: Any,
    dst: Optional[int] = None,
    group: Group = None,
    tag: int = 0,
    group_dst: Optional[int] = None,
) -> None:
    """Send the tensor to one rank; return when that rank has called a ``recv`` that matches."""
    member = _groups.member(group)
    if member is not None:
        member.send(tensor, _groups.peer(member, "dst", dst, group_dst), tag)


def recv(
    tensor: Any,
    src: Optional[int] = None,
    group: Group = None,
    tag: int = 0,
    group_src: Optional[int] = None,
) -> int:
    """Receive from one rank, and return that rank.

    Without ``src``, receives from whichever rank sends first.
    """
    member = _groups.member(group)
    if member is None:
        return -1
    source = member.recv(tensor, source_of(member, src, group_src), tag)
    return _groups.get_global_rank(member, source)


def source_of(group: ProcessGroup, src: Optional[int], group_src: Optional[int]) -> Optional[int]:
    """Return the rank in the group to receive from; None for any rank."""
    if src is None and group_src is None:
        return None
    return _groups.peer(group, "src", src, group_src)


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
    member = _groups.member(group)
    if member is None:
        return []
    return member.batch(
        [
            (
                each.op is isend,
                each.tensor,
                _groups.peer(member, "peer", each.peer, each.group_peer),
                each.tag,
            )
            for each in p2p_op_list
        ]
    )

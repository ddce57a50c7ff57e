"""The point-to-point functions of ``torch.distributed``, with ranks of the world group.

A message goes from a send to a receive of the same tag, type and number of elements. Messages of
one sender, receiver and tag keep their order. If type or number differ, both raise
:class:`CollectiveMismatchError`, and the group goes on.
"""

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
    """Begin to send the tensor to one rank, and return the work at once.

    :param tensor: only read; not to be changed until the operation is done
    :param dst: the receiver, as a rank of the world group. Give it or ``group_dst``
    :param tag: 0 or more; only a receive with this tag takes the message
    :param group_dst: the receiver, as a rank of ``group``
    """
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
    """Begin to receive from one rank, and return the work at once.

    :param tensor: is overwritten; of the type and number of elements that are sent
    :param src: the sender, as a rank of the world group; by default whichever sends first
    :param tag: 0 or more; only a message with this tag is taken
    :param group_src: the sender, as a rank of ``group``, instead of ``src``
    """
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
    """Send the tensor to one rank.

    Blocks until that rank has called a receive that matches, for the group's timeout at the most.

    :param tensor: only read; not to be changed until the operation is done
    :param dst: the receiver, as a rank of the world group. Give it or ``group_dst``
    :param tag: 0 or more; only a receive with this tag takes the message
    :param group_dst: the receiver, as a rank of ``group``
    """
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
    """Receive from one rank, and return that rank, as a rank of the world group.

    Blocks until the message is there, for the group's timeout at the most.

    :param tensor: is overwritten; of the type and number of elements that are sent
    :param src: the sender, as a rank of the world group; by default whichever sends first
    :param tag: 0 or more; only a message with this tag is taken
    :param group_src: the sender, as a rank of ``group``, instead of ``src``
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
    """A message of a batch for :func:`batch_isend_irecv`.

    :param op: :func:`isend` or :func:`irecv`, the function itself
    :param tensor: what is sent, or overwritten
    :param peer: the other rank, as a rank of the world group. Give it or ``group_peer``
    :param group: by default the world group
    :param tag: 0 or more
    :param group_peer: the other rank, as a rank of ``group``
    """

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
    """Begin several messages of one group, and return their works at once.

    Two ranks may both send first. All are checked before one begins.

    :param p2p_op_list: at least one, all of one group
    """
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

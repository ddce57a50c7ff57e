"""The collectives of ``torch.distributed``, with ranks of the world group."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional, Sequence

from . import _groups
from ._coalescing import Coalescing
from ._groups import Group
from .reduce_op import ReduceOp
from .work import Seconds, Work


def broadcast(
    tensor: Any,
    src: Optional[int] = None,
    group: Group = None,
    async_op: bool = False,
    group_src: Optional[int] = None,
) -> Optional[Work]:
    """Send the tensor of rank ``src`` to all other ranks, which overwrite theirs."""
    member = _groups.member(group)
    if member is None:
        return None
    return member.broadcast(tensor, _groups.peer(member, "src", src, group_src), async_op=async_op)


def all_reduce(
    tensor: Any, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Optional[Work]:
    """Reduce the tensor over all ranks, in place, to the same bits on every rank."""
    member = _groups.member(group)
    return None if member is None else member.all_reduce(tensor, op, async_op=async_op)


def all_reduce_coalesced(
    tensors: Sequence[Any],
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Optional[Work]:
    """Reduce each of the tensors over all ranks, in place, as one operation."""
    member = _groups.member(group)
    return None if member is None else member.all_reduce_coalesced(tensors, op, async_op=async_op)


def reduce(
    tensor: Any,
    dst: Optional[int] = None,
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
    group_dst: Optional[int] = None,
) -> Optional[Work]:
    """Reduce the tensor over all ranks, in place at rank ``dst``; elsewhere it is only read."""
    member = _groups.member(group)
    if member is None:
        return None
    return member.reduce(tensor, _groups.peer(member, "dst", dst, group_dst), op, async_op=async_op)


def all_gather(
    tensor_list: Sequence[Any], tensor: Any, group: Group = None, async_op: bool = False
) -> Optional[Work]:
    """Gather the tensors of all ranks in ``tensor_list``; sizes may differ by rank."""
    member = _groups.member(group)
    return None if member is None else member.all_gather(tensor_list, tensor, async_op=async_op)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Group = None, async_op: bool = False
) -> Optional[Work]:
    """Gather the tensors of all ranks, in rank order, in one tensor on all ranks."""
    member = _groups.member(group)
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
    """Gather the tensors of all ranks at rank ``dst``; only that rank passes ``gather_list``."""
    member = _groups.member(group)
    if member is None:
        return None
    root = _groups.root(member, "dst", dst, group_dst)
    return member.gather(gather_list or (), tensor, root, async_op=async_op)


def scatter(
    tensor: Any,
    scatter_list: Optional[Sequence[Any]] = None,
    src: Optional[int] = None,
    group: Group = None,
    async_op: bool = False,
    group_src: Optional[int] = None,
) -> Optional[Work]:
    """Send each rank one tensor of rank ``src``; only that rank passes ``scatter_list``."""
    member = _groups.member(group)
    if member is None:
        return None
    root = _groups.root(member, "src", src, group_src)
    return member.scatter(tensor, scatter_list or (), root, async_op=async_op)


def reduce_scatter(
    output: Any,
    input_list: Sequence[Any],
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Optional[Work]:
    """Reduce the tensors of the list over all ranks; each rank gets the one at its index.

    Sizes may differ by rank.
    """
    member = _groups.member(group)
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
    """Reduce the tensor over all ranks; each rank gets one part of it, in rank order."""
    member = _groups.member(group)
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
    member = _groups.member(group)
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
    member = _groups.member(group)
    if member is None:
        return None
    return member.all_to_all(output_tensor_list, input_tensor_list, async_op=async_op)


def barrier(
    group: Group = None,
    async_op: bool = False,
    device_ids: Any = None,
    timeout: Optional[Seconds] = None,
) -> Optional[Work]:
    """Wait until all ranks have called it, and the collectives before it are done.

    :param device_ids: must be None: it is for GPUs
    :param timeout: for this barrier, instead of the group's
    """
    if device_ids is not None:
        raise ValueError("device_ids cannot be given: they are for the backends of GPUs")
    member = _groups.member(group)
    return None if member is None else member.barrier(async_op=async_op, timeout=timeout)


def monitored_barrier(
    group: Group = None, timeout: Optional[Seconds] = None, wait_all_ranks: bool = False
) -> None:
    """Wait until all ranks have called it; raise an error that names the ranks that have not.

    A missed deadline ends the group in other operations; here the group goes on.

    :param timeout: by default the group's
    :param wait_all_ranks: whether to wait the whole time and name all missing ranks, and not only
        the first
    """
    member = _groups.member(group)
    if member is not None:
        member.monitored_barrier(timeout, wait_all_ranks)


@contextlib.contextmanager
def coalescing_manager(
    group: Group = None, device: Any = None, async_ops: bool = False
) -> Iterator[Coalescing]:
    """Let the operations of a block be awaited as one.

    ::

        with dist.coalescing_manager():
            for gradient in gradients:
                dist.all_reduce(gradient)

    The operations that this thread calls in the group begin one after the other, and the block
    waits for all of them at its end; until then nobody else may use their arrays. With
    ``async_ops`` it does not wait, and ``wait()`` of what it gives does::

        with dist.coalescing_manager(async_ops=True) as block:
            dist.all_reduce(gradient)
        block.wait()

    :param device: must be None, or the CPU
    """
    _groups.require_cpu(device)
    block = Coalescing()
    member = _groups.member(group)
    if member is None:
        yield block
        return
    with member._operations.coalesced(block):
        yield block
    if not async_ops:
        block.wait()

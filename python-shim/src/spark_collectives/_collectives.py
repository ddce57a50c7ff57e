"""The collectives of ``torch.distributed``, with ranks of the world group.

Each is called by all ranks of its group, and blocks until this rank's part is done, for the group's
timeout at the most. With ``async_op=True`` it returns a :class:`Work` at once.
"""

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
    """Send the tensor of rank ``src`` to all other ranks, which overwrite theirs.

    :param tensor: of the same type and number of elements on all ranks
    :param src: the root, as a rank of the world group. Give it or ``group_src``
    :param group_src: the root, as a rank of ``group``
    """
    member = _groups.member(group)
    if member is None:
        return None
    return member.broadcast(tensor, _groups.peer(member, "src", src, group_src), async_op=async_op)


def all_reduce(
    tensor: Any, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Optional[Work]:
    """Reduce the tensor over all ranks, in place, to the same bits on every rank.

    :param tensor: of the same type and number of elements on all ranks
    """
    member = _groups.member(group)
    return None if member is None else member.all_reduce(tensor, op, async_op=async_op)


def all_reduce_coalesced(
    tensors: Sequence[Any],
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Optional[Work]:
    """Reduce each of the tensors over all ranks, in place, as one operation.

    :param tensors: at least one, all of one type; the same sizes in the same order on all ranks
    """
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
    """Reduce the tensor over all ranks, in place at rank ``dst``; elsewhere it is only read.

    :param tensor: of the same type and number of elements on all ranks
    :param dst: the root, as a rank of the world group. Give it or ``group_dst``
    :param group_dst: the root, as a rank of ``group``
    """
    member = _groups.member(group)
    if member is None:
        return None
    return member.reduce(tensor, _groups.peer(member, "dst", dst, group_dst), op, async_op=async_op)


def all_gather(
    tensor_list: Sequence[Any], tensor: Any, group: Group = None, async_op: bool = False
) -> Optional[Work]:
    """Gather the tensors of all ranks on all ranks; sizes may differ by rank.

    :param tensor_list: is overwritten: one tensor for each rank, as large as that rank's
    :param tensor: only read
    """
    member = _groups.member(group)
    return None if member is None else member.all_gather(tensor_list, tensor, async_op=async_op)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Group = None, async_op: bool = False
) -> Optional[Work]:
    """Gather the tensors of all ranks, in rank order, in one tensor on all ranks.

    :param output_tensor: of as many elements as the inputs of all ranks together
    :param input_tensor: of the same number of elements on all ranks; only read
    """
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
    """Gather the tensors of all ranks at rank ``dst``; sizes may differ by rank.

    :param tensor: only read
    :param gather_list: at ``dst`` is overwritten: one tensor for each rank, as large as that
        rank's. Elsewhere None or empty
    :param dst: the root, as a rank of the world group; by default rank 0 of ``group``
    :param group_dst: the root, as a rank of ``group``, instead of ``dst``
    """
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
    """Send each rank one of the tensors of rank ``src``; sizes may differ by rank.

    :param tensor: is overwritten
    :param scatter_list: at ``src`` one tensor for each rank, as large as that rank's; only read.
        Elsewhere None or empty
    :param src: the root, as a rank of the world group; by default rank 0 of ``group``
    :param group_src: the root, as a rank of ``group``, instead of ``src``
    """
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

    :param output: is overwritten; sizes may differ by rank
    :param input_list: one tensor for each rank, as large as that rank's ``output``; only read
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
    """Reduce the tensor over all ranks; each rank gets one part of it, in rank order.

    :param output: one part; of the same number of elements on all ranks
    :param input: one part for each rank, in rank order; only read
    """
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
    """Send parts of the input, one to each rank, and receive one from each.

    Parts are rows: slices of the first dimension.

    :param output: one part from each rank, in rank order; must not share memory with ``input``
    :param input: one part for each rank, in rank order; only read
    :param output_split_sizes: the rows from each rank, the whole ``output`` together; by default
        equal parts
    :param input_split_sizes: the rows to each rank, the whole ``input`` together; by default equal
        parts
    """
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
    """Send each rank one of the tensors, and receive one from each.

    :param output_tensor_list: is overwritten: one tensor for each rank, as large as what that rank
        sends here; must not share memory with the input
    :param input_tensor_list: one tensor for each rank; only read
    """
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

    The collectives before it are done when it returns. After a missed deadline the group goes on.

    :param timeout: seconds, by default the group's timeout; never longer than
        ``spark.collectives.store.timeout``
    :param wait_all_ranks: whether to wait the whole time and name all missing ranks, not only the
        lowest
    :raises CollectiveTimeoutError: on every rank that came, with the ``missing_ranks``
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

    The operations that this thread calls in the group begin one after the other; the end of the
    block waits for all of them. Until then nobody else may use their arrays. With ``async_ops``,
    ``wait()`` of what it gives waits instead::

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

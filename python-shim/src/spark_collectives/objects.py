"""Collectives of Python objects, by cloudpickle.

As with any pickle, a sender can run code on the receiver: the ranks of a group trust each other.
An object that cannot be pickled is told to all ranks of the operation, which raise, and the group
goes on: there its own error, elsewhere :class:`ObjectSerializationError`.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from . import _groups
from ._groups import Group, require_cpu
from ._point_to_point import source_of
from .errors import ObjectSerializationError
from .process_group import ProcessGroup

#: The most bytes that one operation moves. Larger objects take several operations, so an object may
#: be of any size and needs no more shared memory than this.
PIECE_BYTES = 64 << 20

#: The most bytes of the text of an error that other ranks are told.
_MOST_TEXT_BYTES = 4096


def _pieces(size: int, ranks: int = 1) -> Iterator[Tuple[int, int]]:
    """Yield the beginning and end of each piece; an operation moves one piece of each rank."""
    length = max(1, PIECE_BYTES // ranks)
    for begin in range(0, size, length):
        yield begin, min(begin + length, size)


class _Contents:
    """The pickled objects of one rank, or the error if one cannot be pickled."""

    def __init__(self, objects: Sequence[Any]) -> None:
        self.error: Optional[Exception] = None
        self.each: List[Any] = []
        try:
            self.each = [np.frombuffer(pickled(value), np.uint8) for value in objects]
        except Exception as e:
            self.error = e
            text = f"{type(e).__name__}: {e}".encode("utf-8", "backslashreplace")[:_MOST_TEXT_BYTES]
            self.text = np.frombuffer(text or b"?", np.uint8)

    def sizes(self, count: int) -> Any:
        """Return the number of bytes of each object; if there is an error, the negative text's."""
        if self.error is not None:
            return np.full(count, -self.text.size, np.int64)
        return np.array([each.size for each in self.each], np.int64)


def _refusal(rank: int, text: Any) -> ObjectSerializationError:
    error = ObjectSerializationError(
        f"Rank {rank} cannot pickle its object: {bytes(text).decode(errors='replace')}. No object "
        "was exchanged, and the group goes on"
    )
    error.rank = rank
    return error


def pickled(value: Any) -> memoryview:
    """Pickle an object by cloudpickle, where there is PySpark."""
    content = io.BytesIO()
    try:
        from pyspark import cloudpickle
    except ImportError:
        pickle.dump(value, content, pickle.HIGHEST_PROTOCOL)
    else:
        cloudpickle.dump(value, content, pickle.HIGHEST_PROTOCOL)
    return content.getbuffer()


def _loads(content: Any) -> Any:
    return pickle.loads(memoryview(content))


def _gathered_sizes(group: ProcessGroup, own: _Contents) -> Any:
    """Return the sizes of all ranks' objects; raise on all ranks if one cannot be pickled."""
    sizes = np.empty(group.size, np.int64)
    group.all_gather_into(sizes, own.sizes(1))
    failed = np.flatnonzero(sizes < 0)
    if failed.size:
        rank = int(failed[0])
        _raise_on_all(group, rank, int(-sizes[rank]), own)
    return sizes


def _raise_on_all(group: ProcessGroup, root: int, length: int, own: _Contents) -> None:
    """Tell all ranks why the root cannot pickle its object, and raise."""
    text = own.text if group.rank == root else np.empty(length, np.uint8)
    group.broadcast(text, root)
    raise own.error or _refusal(root, text)


def _member(group: Group) -> Optional[ProcessGroup]:
    """Return the group to call; refuse a block, in which nothing is waited for."""
    member = _groups.member(group)
    # Others may have groups of their own, with the same methods.
    if isinstance(member, ProcessGroup) and member._operations.block_of_caller() is not None:
        raise RuntimeError(
            "Objects cannot be exchanged in a block of coalesced operations: how large they are "
            "has to be known first. Do it before or after the block"
        )
    return member


def _buffers(sizes: Any) -> List[Any]:
    return [np.empty(int(size), np.uint8) for size in sizes]


def all_gather_object(object_list: List[Any], obj: Any, group: Group = None) -> None:
    """Gather the objects of all ranks, in rank order, on all ranks.

    :param object_list: is overwritten: a list with an element for each rank
    :raises ObjectSerializationError: if another rank cannot pickle its object; the group goes on
    """
    member = _member(group)
    if member is None:
        return
    _require_length(object_list, member.size, "object_list")
    own = _Contents([obj])
    sizes = _gathered_sizes(member, own)
    content = own.each[0]
    buffers = _buffers(sizes)
    for begin, end in _pieces(int(sizes.max()), member.size):
        member.all_gather([each[begin:end] for each in buffers], content[begin:end])
    object_list[:] = [_loads(each) for each in buffers]


def gather_object(
    obj: Any,
    object_gather_list: Optional[List[Any]] = None,
    dst: Optional[int] = None,
    group: Group = None,
    group_dst: Optional[int] = None,
) -> None:
    """Gather the objects of all ranks, in rank order, at rank ``dst``.

    :param object_gather_list: at ``dst`` is overwritten: a list with an element for each rank.
        Elsewhere ignored
    :param dst: the root, as a rank of the world group; by default rank 0 of ``group``
    :param group_dst: the root, as a rank of ``group``, instead of ``dst``
    :raises ObjectSerializationError: if another rank cannot pickle its object; the group goes on
    """
    member = _member(group)
    if member is None:
        return
    root = _groups.root(member, "dst", dst, group_dst)
    here = member.rank == root
    if here:
        _require_length(object_gather_list, member.size, "object_gather_list")
    own = _Contents([obj])
    sizes = _gathered_sizes(member, own)
    content = own.each[0]
    buffers = _buffers(sizes) if here else []
    for begin, end in _pieces(int(sizes.max()), member.size):
        member.gather([each[begin:end] for each in buffers], content[begin:end], root)
    if here and object_gather_list is not None:
        object_gather_list[:] = [_loads(each) for each in buffers]


def broadcast_object_list(
    object_list: List[Any],
    src: Optional[int] = None,
    group: Group = None,
    device: Any = None,
    group_src: Optional[int] = None,
) -> None:
    """Send the objects of rank ``src`` to all other ranks, which overwrite theirs.

    :param object_list: of the same length on all ranks
    :param src: the root, as a rank of the world group; by default rank 0 of ``group``
    :param device: must be None, or the CPU
    :param group_src: the root, as a rank of ``group``, instead of ``src``
    :raises ObjectSerializationError: if the root cannot pickle an object; the group goes on
    """
    require_cpu(device)
    member = _member(group)
    if member is None:
        return
    root = _groups.root(member, "src", src, group_src)
    here = member.rank == root
    own = _Contents(object_list if here else [])
    sizes = own.sizes(len(object_list)) if here else np.empty(len(object_list), np.int64)
    member.broadcast(sizes, root)
    if sizes.size and sizes[0] < 0:
        _raise_on_all(member, root, int(-sizes[0]), own)
    whole = _joined(own.each) if own.each else np.empty(int(sizes.sum()), np.uint8)
    for begin, end in _pieces(whole.size):
        member.broadcast(whole[begin:end], root)
    if not here:
        object_list[:] = _split(whole, sizes)


def scatter_object_list(
    scatter_object_output_list: List[Any],
    scatter_object_input_list: Optional[List[Any]] = None,
    src: Optional[int] = None,
    group: Group = None,
    group_src: Optional[int] = None,
) -> None:
    """Send each rank one of the objects of rank ``src``.

    :param scatter_object_output_list: its first element is overwritten
    :param scatter_object_input_list: at ``src`` a list with an object for each rank. Elsewhere
        ignored
    :param src: the root, as a rank of the world group; by default rank 0 of ``group``
    :param group_src: the root, as a rank of ``group``, instead of ``src``
    :raises ObjectSerializationError: if the root cannot pickle an object; the group goes on
    """
    member = _member(group)
    if member is None:
        return
    root = _groups.root(member, "src", src, group_src)
    if not scatter_object_output_list:
        raise ValueError("scatter_object_output_list must have an element for the object")
    here = member.rank == root
    if here:
        _require_length(scatter_object_input_list, member.size, "scatter_object_input_list")
    own = _Contents(scatter_object_input_list or () if here else ())
    every = own.sizes(member.size) if here else np.empty(0, np.int64)
    most = max(every.tolist(), default=0)
    sizes = np.empty(2, np.int64)
    member.scatter(sizes, [np.array([each, most], np.int64) for each in every], root)
    if sizes[0] < 0:
        _raise_on_all(member, root, int(-sizes[0]), own)
    contents = own.each
    buffer = np.empty(int(sizes[0]), np.uint8)
    for begin, end in _pieces(int(sizes[1]), member.size):
        member.scatter(buffer[begin:end], [each[begin:end] for each in contents], root)
    scatter_object_output_list[0] = _loads(buffer)


def send_object_list(
    object_list: List[Any],
    dst: Optional[int] = None,
    group: Group = None,
    device: Any = None,
    group_dst: Optional[int] = None,
) -> None:
    """Send the objects to one rank, and block until it receives them.

    :param object_list: of the length that the receiver's list has
    :param dst: the receiver, as a rank of the world group. Give it or ``group_dst``
    :param device: must be None, or the CPU
    :param group_dst: the receiver, as a rank of ``group``
    """
    require_cpu(device)
    member = _member(group)
    if member is None:
        return
    peer = _groups.peer(member, "dst", dst, group_dst)
    own = _Contents(object_list)
    member.send(own.sizes(len(object_list)), peer)
    if own.error is not None:
        member.send(own.text, peer)
        raise own.error
    if own.each:
        whole = _joined(own.each)
        for begin, end in _pieces(whole.size):
            member.send(whole[begin:end], peer)


def recv_object_list(
    object_list: List[Any],
    src: Optional[int] = None,
    group: Group = None,
    device: Any = None,
    group_src: Optional[int] = None,
) -> int:
    """Receive objects from one rank, and return that rank, as a rank of the world group.

    :param object_list: is overwritten; of the length that the sender's list has
    :param src: the sender, as a rank of the world group; by default whichever sends first
    :param device: must be None, or the CPU
    :param group_src: the sender, as a rank of ``group``, instead of ``src``
    :raises ObjectSerializationError: if the sender cannot pickle an object; the group goes on
    """
    require_cpu(device)
    member = _member(group)
    if member is None:
        return -1
    sizes = np.empty(len(object_list), np.int64)
    source = member.recv(sizes, source_of(member, src, group_src))
    if sizes.size and sizes[0] < 0:
        text = np.empty(int(-sizes[0]), np.uint8)
        member.recv(text, source)
        raise _refusal(source, text)
    if object_list:
        whole = np.empty(int(sizes.sum()), np.uint8)
        for begin, end in _pieces(whole.size):
            member.recv(whole[begin:end], source)
        object_list[:] = _split(whole, sizes)
    return _groups.get_global_rank(member, source)


def _joined(contents: List[Any]) -> Any:
    return contents[0] if len(contents) == 1 else np.concatenate(contents)


def _split(whole: Any, sizes: Any) -> List[Any]:
    ends = np.cumsum(sizes)
    return [_loads(whole[end - size : end]) for end, size in zip(ends, sizes)]


def _require_length(objects: Optional[List[Any]], length: int, name: str) -> None:
    if objects is None or len(objects) != length:
        raise ValueError(
            f"{name} must have an element for each of the {length} ranks, and has "
            f"{0 if objects is None else len(objects)}"
        )

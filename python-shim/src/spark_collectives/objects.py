"""Collectives of Python objects, by cloudpickle.

As with any pickle, a sender can run code on the receiver: the ranks of a group trust each other.
An object that cannot be pickled aborts the group, because the other ranks wait for it.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, Iterator, List, Optional, Tuple

import numpy as np

from . import _groups
from ._groups import Group
from ._point_to_point import source_of
from .process_group import ProcessGroup

#: The most bytes that one operation moves. Larger objects take several operations, so an object may
#: be of any size and needs no more shared memory than this.
PIECE_BYTES = 64 << 20


def _pieces(size: int, ranks: int = 1) -> Iterator[Tuple[int, int]]:
    """Yield the beginning and end of each piece; an operation moves one piece of each rank."""
    length = max(1, PIECE_BYTES // ranks)
    for begin in range(0, size, length):
        yield begin, min(begin + length, size)


def _dumps(value: Any, group: ProcessGroup) -> Any:
    """Pickle an object; if that fails, abort the group, because the other ranks wait for it."""
    try:
        content = pickled(value)
    except Exception as e:
        group.abort(f"rank {group.rank} cannot pickle its object: {type(e).__name__}: {e}")
        raise
    return np.frombuffer(content, dtype=np.uint8)


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


def _sizes(group: ProcessGroup, content: Any) -> Any:
    sizes = np.empty(group.size, np.int64)
    group.all_gather_into(sizes, np.array([content.size], np.int64))
    return sizes


def _buffers(sizes: Any) -> List[Any]:
    return [np.empty(int(size), np.uint8) for size in sizes]


def all_gather_object(object_list: List[Any], obj: Any, group: Group = None) -> None:
    """Gather the objects of all ranks, in rank order, in ``object_list`` on all ranks."""
    member = _groups.member(group)
    if member is None:
        return
    _require_length(object_list, member.size, "object_list")
    content = _dumps(obj, member)
    sizes = _sizes(member, content)
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
    """Gather the objects of all ranks at rank ``dst``; only it passes ``object_gather_list``."""
    member = _groups.member(group)
    if member is None:
        return
    root = _groups.root(member, "dst", dst, group_dst)
    here = member.rank == root
    if here:
        _require_length(object_gather_list, member.size, "object_gather_list")
    content = _dumps(obj, member)
    sizes = _sizes(member, content)
    buffers = _buffers(sizes) if here else []
    for begin, end in _pieces(int(sizes.max()), member.size):
        member.gather([each[begin:end] for each in buffers], content[begin:end], root)
    if here and object_gather_list is not None:
        object_gather_list[:] = [_loads(each) for each in buffers]


def broadcast_object_list(
    object_list: List[Any],
    src: Optional[int] = None,
    group: Group = None,
    group_src: Optional[int] = None,
) -> None:
    """Send the objects of rank ``src`` to all ranks; all lists have the same length."""
    member = _groups.member(group)
    if member is None:
        return
    root = _groups.root(member, "src", src, group_src)
    here = member.rank == root
    contents = [_dumps(each, member) for each in object_list] if here else []
    sizes = np.array([each.size for each in contents], np.int64)
    if not here:
        sizes = np.empty(len(object_list), np.int64)
    member.broadcast(sizes, root)
    whole = _joined(contents) if contents else np.empty(int(sizes.sum()), np.uint8)
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
    """Send each rank one object of rank ``src``; it becomes the first one of the output list."""
    member = _groups.member(group)
    if member is None:
        return
    root = _groups.root(member, "src", src, group_src)
    if not scatter_object_output_list:
        raise ValueError("scatter_object_output_list must have an element for the object")
    contents: List[Any] = []
    if member.rank == root:
        _require_length(scatter_object_input_list, member.size, "scatter_object_input_list")
        contents = [_dumps(each, member) for each in scatter_object_input_list or ()]
    most = max((each.size for each in contents), default=0)
    sizes = np.empty(2, np.int64)
    member.scatter(sizes, [np.array([each.size, most], np.int64) for each in contents], root)
    buffer = np.empty(int(sizes[0]), np.uint8)
    for begin, end in _pieces(int(sizes[1]), member.size):
        member.scatter(buffer[begin:end], [each[begin:end] for each in contents], root)
    scatter_object_output_list[0] = _loads(buffer)


def send_object_list(
    object_list: List[Any],
    dst: Optional[int] = None,
    group: Group = None,
    group_dst: Optional[int] = None,
) -> None:
    """Send the objects to one rank, which passes a list of the same length."""
    member = _groups.member(group)
    if member is None:
        return
    peer = _groups.peer(member, "dst", dst, group_dst)
    contents = [_dumps(each, member) for each in object_list]
    member.send(np.array([each.size for each in contents], np.int64), peer)
    if contents:
        whole = _joined(contents)
        for begin, end in _pieces(whole.size):
            member.send(whole[begin:end], peer)


def recv_object_list(
    object_list: List[Any],
    src: Optional[int] = None,
    group: Group = None,
    group_src: Optional[int] = None,
) -> int:
    """Receive objects from one rank; without ``src``, from the first to send. Return that rank."""
    member = _groups.member(group)
    if member is None:
        return -1
    sizes = np.empty(len(object_list), np.int64)
    source = member.recv(sizes, source_of(member, src, group_src))
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

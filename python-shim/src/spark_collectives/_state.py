"""The state that the ranks of a group keep in the driver: its store and its checkpoints."""

from __future__ import annotations

from typing import Any, Sequence

from . import _groups
from ._groups import Group
from .store import Store


def store(group: Group = None) -> Store:
    """Return the group's part of the driver's store, for keys of the application."""
    return _groups.required(group).store()


def checkpoint(
    name: str, tensors: Sequence[Any], group: Group = None, *, replicated: bool = False
) -> None:
    """Save the tensors in the driver for later attempts of the stage, all or none of them.

    Called by all ranks of the group. Blocks until those of all ranks are saved. :func:`restore`
    gives them back.

    :param name: tells it from other checkpoints of the group
    :param tensors: as many as this rank has to save; only read
    :param replicated: whether all ranks have the same tensors, of which those of rank 0 are saved
    :raises CollectiveError: on every rank, if those of one rank could not be saved
    """
    member = _groups.member(group)
    if member is not None:
        member.checkpoint(name, tensors, replicated=replicated)


def restore(name: str, tensors: Sequence[Any], group: Group = None) -> bool:
    """Overwrite the tensors with the last checkpoint of this name; return False without one.

    Called by all ranks of the group, which all get the same version.

    :param tensors: of the types and shapes that were saved, in that order
    :raises ValueError: if they are of other types or shapes; they stay as they are
    """
    member = _groups.member(group)
    return False if member is None else member.restore(name, tensors)

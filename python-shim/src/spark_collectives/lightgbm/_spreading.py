"""The ranks that train, and their rows: each needs some to train on."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from .. import objects
from . import _rows
from ._ranks import gathered
from ._rows import Rows


def spread(group: Any, rows: Rows) -> Tuple[Optional[Any], Rows]:
    """Return the group of the ranks that train, and the rows of this one.

    Spark spreads rows, or queries, without a look at which are held out. Where that leaves a rank
    with none to train on, all are spread anew: those to train on first, then those held out. If
    there are fewer than ranks, the last ranks get no rows, and no group. A collective.

    :raises ValueError: on all ranks, if there is nothing to train on
    """
    held_out = rows.held_out
    training, validation = rows.where(~held_out), rows.where(held_out)
    sizes = gathered(group, (training.queries(), validation.queries()))
    counts = [len(own) for own, _ in sizes]
    if sum(counts) == 0:
        raise ValueError(
            "There are no rows to train on: "
            + (
                "all are held out by the validation indicator"
                if any(len(own) for _, own in sizes)
                else "the DataFrame has none"
            )
        )
    if min(counts) > 0:
        return group, rows
    ranks = min(group.size, sum(counts))
    targets = dealt([own for own, _ in sizes], ranks)
    validation_targets = dealt([own for _, own in sizes], ranks, sum(counts))
    parts = [
        _rows.joined(
            [
                _chosen(training, targets[group.rank], rank),
                _chosen(validation, validation_targets[group.rank], rank),
            ]
        )
        for rank in range(group.size)
    ]
    own = _rows.joined(_exchanged(group, parts))
    if ranks == group.size:
        return group, own
    return group.split(0 if group.rank < ranks else -1), own


def dealt(sizes: Sequence[Any], ranks: int, first: int = 0) -> List[Any]:
    """Return to which rank each query of each rank goes: from the largest on, in turns.

    :param sizes: the number of rows of each query, by the rank that has it
    :param first: how many have been dealt before
    """
    every = np.concatenate(sizes)
    targets = np.empty(len(every), np.int64)
    targets[np.argsort(-every, kind="stable")] = (first + np.arange(len(every))) % ranks
    return np.split(targets, np.cumsum([len(each) for each in sizes])[:-1])


def _chosen(rows: Rows, targets: Any, rank: int) -> Rows:
    return rows.where(np.repeat(targets == rank, rows.queries()))


def _exchanged(group: Any, parts: List[Rows]) -> List[Rows]:
    """Give each rank its part; return what this rank gets from each."""
    received: List[Rows] = []
    for root in range(group.size):
        own: List[Any] = [None]
        given = [part.columns for part in parts] if group.rank == root else None
        objects.scatter_object_list(own, given, group=group, group_src=root)
        received.append(Rows(own[0]))
    return received

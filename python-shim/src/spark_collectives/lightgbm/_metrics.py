"""Metrics of all ranks' rows, from those that LightGBM computes of each rank's."""

from __future__ import annotations

import math
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

from . import _library
from ._ranks import gathered

#: Means over the groups of a ranker, and not over rows.
_OF_GROUPS = ("ndcg", "map")
#: Means over the rows that ignore their weights.
_UNWEIGHTED = ("cross_entropy_lambda",)
#: Sums over the rows.
_SUMS = ("gamma_deviance",)
#: Roots of means.
_ROOTS = ("rmse",)


class _Entry(NamedTuple):
    """One metric of one validation set."""

    dataset: str
    metric: str
    maximize: bool


class GlobalMetrics:
    """A callback of LightGBM that replaces the metrics of a rank's rows by those of all ranks'.

    It runs before all other callbacks after a round, so that each of them sees the same bits on
    every rank, and early stopping ends all ranks in the same round. It costs one all-reduce in a
    round, and none if there is nothing to evaluate.

    A metric that is a mean over rows or groups (l2, logloss, errors, ndcg, ...) is that of all
    rows. Any other (auc, average_precision, a function of the user) is the mean of the ranks'
    values, weighted by the weights of their rows, which need not be the value of all rows.

    :param datasets: the validation sets of this rank, by name; it may lack some that others have
    :param names: the names of the validation sets of all ranks
    """

    order = -math.inf
    before_iteration = False

    def __init__(self, group: Any, datasets: Dict[str, Any], names: Sequence[str]) -> None:
        self._group = group
        self._datasets = datasets
        self._names = names
        self._entries: List[_Entry] = []
        self._own: List[float] = []
        self._total: Any = None
        self._sums: Any = None

    def __call__(self, env: Any) -> None:
        """Replace the results in the list that the other callbacks get, too."""
        results = env.evaluation_result_list
        if not self._names:
            return
        if self._sums is None:
            self._agree(results)
        own = {(each[0], each[1]): each[2] for each in results}
        for i, entry in enumerate(self._entries):
            value = own.get((entry.dataset, entry.metric), 0.0)
            if _kind(entry.metric) in _ROOTS:
                value *= value
            self._sums[i] = value * self._own[i]
        if self._entries:
            self._group.all_reduce(self._sums)
        results[:] = [
            _library.evaluation(
                entry.dataset, entry.metric, self._value(i, entry.metric), entry.maximize
            )
            for i, entry in enumerate(self._entries)
        ]

    def _value(self, i: int, metric: str) -> float:
        total = float(self._sums[i])
        if _kind(metric) in _SUMS:
            return total
        mean = total / float(self._total[i]) if self._total[i] else math.nan
        return math.sqrt(mean) if _kind(metric) in _ROOTS else mean

    def _agree(self, results: Sequence[Any]) -> None:
        """Agree on the metrics of all ranks, and sum up the weights of their rows."""
        own = [_Entry(each[0], each[1], bool(each[3])) for each in results]
        found: Dict[Tuple[str, str], _Entry] = {}
        for entries in gathered(self._group, own):
            for entry in entries:
                found.setdefault((entry.dataset, entry.metric), entry)
        order = {name: i for i, name in enumerate(self._names)}
        self._entries = sorted(found.values(), key=lambda entry: order.get(entry.dataset, -1))
        self._own = [self._weight(entry) for entry in self._entries]
        self._sums = self._group.zeros(max(1, len(self._entries)), np.float64)
        self._total = np.zeros_like(self._sums)
        self._total[: len(self._own)] = self._own
        self._group.all_reduce(self._total)

    def _weight(self, entry: _Entry) -> float:
        """Return what this rank's value of a metric weighs in the mean of all ranks."""
        dataset = self._datasets.get(entry.dataset)
        if dataset is None:
            return 0.0
        kind = _kind(entry.metric)
        if kind in _SUMS:
            return 1.0
        weights = dataset.get_weight()
        if kind in _OF_GROUPS and dataset.get_group() is not None:
            return _weight_of_groups(np.asarray(dataset.get_group(), np.int64), weights)
        if weights is None or kind in _UNWEIGHTED:
            return float(dataset.num_data())
        return float(np.asarray(weights, np.float64).sum())


def _kind(metric: str) -> str:
    """Return the name without the position of ``ndcg@5``."""
    return metric.partition("@")[0]


def _weight_of_groups(sizes: Any, weights: Any) -> float:
    """Return the sum of the groups' weights, each the mean of its rows' weights."""
    if weights is None:
        return float(len(sizes))
    begins = np.cumsum(sizes) - sizes
    return float((np.add.reduceat(np.asarray(weights, np.float64), begins) / sizes).sum())

"""The bins of all ranks, made from a sample of all rows before the ranks train."""

from __future__ import annotations

from typing import Any, Dict, Sequence

import numpy as np

from . import _datasets, _library, _lightgbm_parameters
from ._ranks import gathered

#: LightGBM's own defaults.
_SAMPLED_ROWS = 200_000
_SEED = 1


def reference(group: Any, dataset: Any, params: Dict[str, Any], rows: Sequence[int]) -> Any:
    """Create a Dataset of sampled rows, the same on every rank, whose bins the ranks are to use.

    A collective: each rank gives rows in proportion to those that it has. If all ranks together
    have no more than ``bin_construct_sample_cnt`` rows, all are taken, in the order of the ranks,
    and the bins are those of one process that has all rows.

    :param rows: how many rows each rank has
    :raises TypeError: if rows cannot be taken from data of this kind
    """
    wanted = _library.parameter(params, "bin_construct_sample_cnt") or _SAMPLED_ROWS
    own = _own_sample(group, dataset.data, params, rows, wanted)
    sample = _datasets.joined(gathered(group, own))
    made = _library.load().Dataset(
        sample,
        np.zeros(_datasets.row_count(sample)),
        feature_name=dataset.feature_name,
        categorical_feature=dataset.categorical_feature,
        params=_lightgbm_parameters.for_bins({**(dataset.params or {}), **params}),
    )
    # Here, and not when it is first used: then the network would be asked for the bins.
    return made.construct()


def _own_sample(
    group: Any, data: Any, params: Dict[str, Any], rows: Sequence[int], wanted: int
) -> Any:
    own = rows[group.rank]
    total = sum(rows)
    if total <= wanted:
        return _datasets.taken(data, np.arange(own))
    seed = _library.parameter(params, "data_random_seed")
    random = np.random.default_rng([_SEED if seed is None else int(seed), group.rank])
    count = max(1, own * wanted // total)
    return _datasets.taken(data, np.sort(random.choice(own, count, replace=False)))


def is_sampled(params: Dict[str, Any], rows: Sequence[int]) -> bool:
    """Return whether the bins come from a part of the rows only."""
    wanted = _library.parameter(params, "bin_construct_sample_cnt") or _SAMPLED_ROWS
    return sum(rows) > wanted

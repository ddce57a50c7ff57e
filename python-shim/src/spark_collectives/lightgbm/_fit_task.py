"""The task of one rank of an estimator's stage."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from .. import _groups
from . import _library, _ranks, _rows
from ._rows import Rows
from .training import train

#: The columns of what the stage gives: one row, of rank 0.
SCHEMA = "model string, outcome string"

_VALIDATION_NAME = "validation"


class FitTask(NamedTuple):
    """What each rank does with its rows. It is pickled to the executors."""

    params: Dict[str, Any]
    rounds: int
    #: Whether labels are classes.
    classifies: bool
    feature_names: List[str]
    categorical: List[Any]
    bin_construction: str
    checkpoint_rounds: int
    init_model: Optional[str]
    callbacks: List[Any]
    feval: Any

    def on_batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Train on Arrow's batches; rank 0 yields the model and what became of the training."""
        import pyarrow as pa

        rows = _rows.read(batches)
        group = _groups.init_process_group()
        _ranks.require_library(group)
        outcome = self._fit(group, rows)
        if group.rank == 0:
            model, facts = outcome
            yield pa.RecordBatch.from_pydict({"model": [model], "outcome": [json.dumps(facts)]})

    def _fit(self, group: Any, rows: Rows) -> Tuple[str, Dict[str, Any]]:
        lightgbm = _library.load()
        params = dict(self.params)
        classes: List[float] = []
        if self.classifies:
            classes = _encode_labels(group, rows)
            params.setdefault("objective", "binary" if len(classes) == 2 else "multiclass")
            if len(classes) > 2:
                params["num_class"] = len(classes)
        held_out = rows.get(_rows.VALIDATION)
        valid_sets: List[Any] = []
        if held_out is not None:
            valid_sets = [self._dataset(rows.where(held_out))]
            rows = rows.where(~held_out)
        history: Dict[str, Dict[str, List[float]]] = {}
        recorders = [lightgbm.record_evaluation(history)] if valid_sets else []
        booster = train(
            params,
            self._dataset(rows),
            self.rounds,
            valid_sets=valid_sets,
            valid_names=[_VALIDATION_NAME] * len(valid_sets),
            feval=self.feval,
            init_model=self.init_model and lightgbm.Booster(model_str=self.init_model),
            callbacks=[*self.callbacks, *recorders],
            bin_construction=self.bin_construction,
            checkpoint_rounds=self.checkpoint_rounds,
            group=group,
        )
        facts = {
            "best_iteration": int(booster.best_iteration),
            "evals_result": history,
            "classes": classes,
        }
        return booster.model_to_string(), facts

    def _dataset(self, rows: Rows) -> Any:
        queries = rows.get(_rows.GROUP)
        return _library.load().Dataset(
            rows.columns[_rows.FEATURES],
            rows.columns[_rows.LABEL],
            weight=rows.get(_rows.WEIGHT),
            group=None if queries is None else _sizes_of_runs(queries),
            init_score=rows.get(_rows.INIT_SCORE),
            feature_name=self.feature_names or "auto",
            categorical_feature=self.categorical or "auto",
        )


def _encode_labels(group: Any, rows: Rows) -> List[float]:
    """Replace the labels by the numbers of their classes; return the classes of all ranks.

    Labels that are NaN stay so: the training refuses them.

    :raises ValueError: on all ranks, if labels are no whole numbers, or all the same
    """
    labels = rows.columns[_rows.LABEL].astype(np.float64)
    usable = np.isfinite(labels)
    found = np.unique(np.concatenate(_ranks.gathered(group, np.unique(labels[usable]))))
    fractions = found[found != np.floor(found)]
    if len(fractions):
        raise ValueError(
            f"The labels of a classifier must be whole numbers, and {fractions[0]} is among them: "
            "use LGBMRegressor, or index the labels first"
        )
    if len(found) == 1:
        raise ValueError(f"All labels are {found[0]:g}, and a classifier needs two classes")
    rows.columns[_rows.LABEL] = np.where(usable, np.searchsorted(found, labels), labels)
    return [float(each) for each in found]


def _sizes_of_runs(values: Any) -> Any:
    """Return how many equal values follow each other: the rows of a query are together."""
    if len(values) == 0:
        return np.empty(0, np.int64)
    begins = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    return np.diff(np.r_[begins, len(values)])

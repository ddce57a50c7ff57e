"""The task of one rank of an estimator's stage."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from .. import _groups
from ..errors import CollectiveError, StoreError
from . import _class_weights, _library, _lightgbm_parameters, _ranks, _rows, _spreading
from ._class_weights import ClassWeight
from ._rows import Rows
from .training import Prepared, prepare

_VALIDATION_NAME = "validation"

#: Of LightGBM's text, a leaf's value that is no number, such as that of rows whose weights are 0.
_NO_NUMBER = re.compile(r"^leaf_(?:value|const|coeff)=.*?(-?(?:nan|inf))", re.MULTILINE)

#: The first whole number that is not a double of its own.
_MOST_LABEL = 2.0**53


class Fitted(NamedTuple):
    """What a rank returns."""

    #: Why there is no model. It is returned, so that no task fails.
    refusal: Optional[Exception] = None
    #: LightGBM's text of the model, of the first rank only.
    model: str = ""
    #: What became of the training.
    facts: Optional[Dict[str, Any]] = None
    #: How many ranks have trained.
    ranks: int = 0


class FitTask(NamedTuple):
    """What each rank does with its rows. It is pickled to the executors."""

    params: Dict[str, Any]
    #: Unless one is given.
    objective: Optional[str]
    rounds: int
    #: Whether labels are classes.
    classifies: bool
    class_weight: Optional[ClassWeight]
    feature_names: List[str]
    categorical: List[Any]
    #: Whether rows may be given to other ranks.
    spreads: bool
    bin_construction: str
    checkpoint_rounds: int
    init_model: Optional[str]
    callbacks: List[Any]
    feval: Any

    def on_rows(self, batches: Iterator[Any]) -> Fitted:
        """Train on Arrow's batches."""
        try:
            prepared, classes = self._prepare(_groups.world(), batches)
        except (CollectiveError, StoreError):
            raise
        except (ValueError, TypeError, ImportError, RuntimeError) as e:
            return Fitted(refusal=e)
        if prepared is None:
            return Fitted()
        lightgbm = _library.load()
        history: Dict[str, Dict[str, List[float]]] = {}
        recorders = [lightgbm.record_evaluation(history)] if prepared.valid_sets else []
        booster = prepared.train(self.feval, [*self.callbacks, *recorders])
        if prepared.group.rank != 0:
            return Fitted()
        text = booster.model_to_string()
        unusable = _NO_NUMBER.search(text)
        if unusable:
            return Fitted(
                refusal=ValueError(
                    f"A leaf of the model has the value {unusable[1]}: are all weights 0, is the "
                    "learning rate too large, or has init_model such a leaf?"
                )
            )
        facts = {
            "best_iteration": int(booster.best_iteration),
            "evals_result": history,
            "classes": classes,
        }
        return Fitted(None, text, facts, prepared.group.size)

    def _prepare(
        self, world: Any, batches: Iterator[Any]
    ) -> Tuple[Optional[Prepared], List[float]]:
        """Return what the ranks train with, and the classes; nothing on a rank without rows.

        What it raises, it raises on all ranks.
        """
        _ranks.require_library(world)
        rows = _ranks.on_all(world, lambda: self._read(batches))
        group: Any = world
        if self.spreads:
            group, rows = _spreading.spread(world, rows)
            if group is None:
                return None, []
        params = dict(self.params)
        objective = self.objective
        classes: List[float] = []
        if self.classifies:
            classes = _encode_labels(group, rows)
            objective = "binary" if len(classes) == 2 else "multiclass"
            if len(classes) > 2:
                params = _with_classes(params, len(classes))
        if objective is not None and _library.parameter(params, "objective") is None:
            params["objective"] = objective
        held_out = rows.get(_rows.VALIDATION)
        valid_sets: List[Any] = []
        if held_out is not None:
            valid_sets = [self._dataset(rows.where(held_out))]
            rows = rows.where(~held_out)
        if self.class_weight is not None:
            _weigh(group, rows, self.class_weight, classes)
        prepared = prepare(
            group,
            params,
            self._dataset(rows),
            self.rounds,
            valid_sets,
            [_VALIDATION_NAME] * len(valid_sets),
            self.init_model and _library.load().Booster(model_str=self.init_model),
            bin_construction=self.bin_construction,
            checkpoint_rounds=self.checkpoint_rounds,
        )
        return prepared, classes

    def _read(self, batches: Iterator[Any]) -> Rows:
        _lightgbm_parameters.require_known(self.params)
        rows = _rows.read(batches)
        width = rows.columns[_rows.FEATURES].shape[1]
        for feature in self.categorical:
            if isinstance(feature, int) and rows.count and not 0 <= feature < width:
                raise ValueError(
                    f"categorical_features has {feature}, and the features are 0 to {width - 1}"
                )
        for held_out in (rows.held_out, ~rows.held_out):
            rows.where(held_out).queries()
        return rows

    def _dataset(self, rows: Rows) -> Any:
        return _library.load().Dataset(
            rows.columns[_rows.FEATURES],
            rows.columns[_rows.LABEL],
            weight=rows.get(_rows.WEIGHT),
            group=None if rows.get(_rows.GROUP) is None else rows.queries(),
            init_score=rows.get(_rows.INIT_SCORE),
            feature_name=self.feature_names or "auto",
            categorical_feature=self.categorical or "auto",
        )


def _encode_labels(group: Any, rows: Rows) -> List[float]:
    """Replace the labels by the numbers of their classes; return the classes of all ranks.

    Labels that are NaN stay so: the training refuses them.

    :raises ValueError: on all ranks, if labels are no whole numbers, too large, or all the same
    """
    labels = rows.columns[_rows.LABEL]
    usable = np.isfinite(labels)
    found = np.unique(np.concatenate(_ranks.gathered(group, np.unique(labels[usable]))))
    fractions = found[found != np.floor(found)]
    if len(fractions):
        raise ValueError(
            f"The labels of a classifier must be whole numbers, and {fractions[0]} is among them: "
            "use LGBMRegressor, or index the labels first"
        )
    large = found[np.abs(found) >= _MOST_LABEL]
    if len(large):
        raise ValueError(
            f"The label {large[0]:.0f} is too large: from 2^53 on, a double has not each whole "
            "number, so labels could become one. Index them first, for example with StringIndexer"
        )
    if len(found) == 1:
        raise ValueError(f"All labels are {found[0]:g}, and a classifier needs two classes")
    rows.columns[_rows.LABEL] = np.where(usable, np.searchsorted(found, labels), labels)
    return [float(each) for each in found]


def _with_classes(params: Dict[str, Any], count: int) -> Dict[str, Any]:
    """Return the parameters with the number of classes."""
    given = _library.parameter(params, "num_class")
    if given not in (None, count):
        raise ValueError(f"num_class is {given}, and there are {count} labels: leave it out")
    return {**_library.without(params, "num_class"), "num_class": count}


def _weigh(group: Any, rows: Rows, given: ClassWeight, classes: List[float]) -> None:
    """Multiply the weights of rows to train on by those of their classes."""
    numbers = rows.columns[_rows.LABEL]
    if any(_ranks.gathered(group, not np.isfinite(numbers).all())):
        # The training refuses these labels.
        return
    weights = _class_weights.of_rows(group, given, classes, numbers.astype(np.int64))
    own = rows.get(_rows.WEIGHT)
    rows.columns[_rows.WEIGHT] = weights if own is None else own * weights

"""The Params of the estimators and the models."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple, TypeVar

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasValidationIndicatorCol,
    HasWeightCol,
)

from ._class_weights import BALANCED

#: Parameters of LightGBM that are Params, so that a CrossValidator can vary them. They have the
#: names of LightGBM's classes for scikit-learn.
LEARNING: Dict[str, Tuple[Callable[[Any], Any], str]] = {
    "n_estimators": (TypeConverters.toInt, "the number of boosting rounds"),
    "learning_rate": (
        TypeConverters.toFloat,
        "the factor by which each tree's values are multiplied",
    ),
    "num_leaves": (TypeConverters.toInt, "the most leaves of a tree"),
    "max_depth": (TypeConverters.toInt, "the greatest depth of a tree; -1 for any"),
    "min_child_samples": (TypeConverters.toInt, "the fewest rows in a leaf, of all ranks"),
    "min_child_weight": (TypeConverters.toFloat, "the least sum of hessians in a leaf"),
    "min_split_gain": (TypeConverters.toFloat, "the least gain of a split"),
    "subsample": (TypeConverters.toFloat, "the fraction of the rows that is sampled for trees"),
    "subsample_freq": (
        TypeConverters.toInt,
        "after how many rounds rows are sampled again; 0 for never",
    ),
    "colsample_bytree": (
        TypeConverters.toFloat,
        "the fraction of the columns that is sampled for each tree",
    ),
    "reg_alpha": (TypeConverters.toFloat, "the L1 penalty"),
    "reg_lambda": (TypeConverters.toFloat, "the L2 penalty"),
    "max_bin": (TypeConverters.toInt, "the most bins of a column"),
    "boosting_type": (TypeConverters.toString, "gbdt, dart or rf"),
    "objective": (TypeConverters.toString, "LightGBM's name of the objective"),
    "early_stopping_round": (
        TypeConverters.toInt,
        "early stopping: the rounds without a better metric of the validation rows that end it",
    ),
    "random_state": (TypeConverters.toInt, "the seed"),
}

_P = TypeVar("_P", bound=type)


def with_learning_params(type_: _P) -> _P:
    """Add a Param to a class for each of LightGBM's parameters that are Params."""
    for name, (converter, doc) in LEARNING.items():
        setattr(type_, name, Param(Params._dummy(), name, doc, typeConverter=converter))
    return type_


class PredictionParams(HasFeaturesCol, HasPredictionCol):  # type: ignore[misc]
    """The Params that estimators and models have."""

    featuresCols = Param(
        Params._dummy(),
        "featuresCols",
        "numeric columns that are the features, instead of one column with all of them",
        typeConverter=TypeConverters.toListString,
    )

    def feature_columns(self) -> List[str]:
        """Return the numeric columns that are the features, or none if one column has all."""
        return list(self.getOrDefault(self.featuresCols))


@with_learning_params
class FitParams(
    PredictionParams,
    HasLabelCol,  # type: ignore[misc]
    HasWeightCol,  # type: ignore[misc]
    HasValidationIndicatorCol,  # type: ignore[misc]
):
    """The Params of the estimators."""

    initScoreCol = Param(
        Params._dummy(),
        "initScoreCol",
        "initial scores, to which the trees add: a number, or an array with one for each class",
        typeConverter=TypeConverters.toString,
    )
    numWorkers = Param(
        Params._dummy(),
        "numWorkers",
        "the number of ranks, each a task of one barrier stage",
        typeConverter=TypeConverters.toInt,
    )
    repartition = Param(
        Params._dummy(),
        "repartition",
        "whether rows are repartitioned to numWorkers partitions; if not, each partition is a rank",
        typeConverter=TypeConverters.toBoolean,
    )
    categoricalFeatures = Param(
        Params._dummy(),
        "categoricalFeatures",
        "the features that are categories, by number, or by name where there are featuresCols",
        typeConverter=TypeConverters.toList,
    )
    binConstruction = Param(
        Params._dummy(),
        "binConstruction",
        "shared: bins are made from a sample of all ranks; local: as over LightGBM's sockets",
        typeConverter=TypeConverters.toString,
    )
    stageRetry = Param(
        Params._dummy(),
        "stageRetry",
        "whether Spark runs the stage again when it fails",
        typeConverter=TypeConverters.toBoolean,
    )
    checkpointRounds = Param(
        Params._dummy(),
        "checkpointRounds",
        "after how many rounds the model is kept for the next attempt of the stage; 0 for never",
        typeConverter=TypeConverters.toInt,
    )
    initModel = Param(
        Params._dummy(),
        "initModel",
        "the text of a model that training goes on from",
        typeConverter=TypeConverters.toString,
    )
    lightgbmParams = Param(
        Params._dummy(),
        "lightgbmParams",
        "further parameters of LightGBM, by name",
    )

    def lightgbm_params(self) -> Dict[str, Any]:
        """Return all parameters of LightGBM that are set."""
        found = dict(self.getOrDefault(self.lightgbmParams))
        for name in LEARNING:
            param = self.getParam(name)
            if self.isDefined(param):
                found[name] = self.getOrDefault(param)
        return found

    def value(self, name: str) -> Any:
        """Return the value of a Param, or None if it has none."""
        param = self.getParam(name)
        return self.getOrDefault(param) if self.isDefined(param) else None


class HasGroupCol(Params):  # type: ignore[misc]
    """The Param of a ranker."""

    groupCol = Param(
        Params._dummy(),
        "groupCol",
        "the query of each row",
        typeConverter=TypeConverters.toString,
    )


def _class_weight(value: Any) -> Any:
    if value == BALANCED:
        return value
    if isinstance(value, dict):
        # Their labels are text after they have been saved.
        return {float(label): float(weight) for label, weight in value.items()}
    raise TypeError(f"It must be {BALANCED!r} or a dict with a weight for each label")


class HasClassWeight(Params):  # type: ignore[misc]
    """The Param of a classifier."""

    classWeight = Param(
        Params._dummy(),
        "classWeight",
        "weights of classes: balanced, or a weight for each label; one that is left out weighs 1",
        typeConverter=_class_weight,
    )


def camel_case(name: str) -> str:
    """Return the name of the Param for an argument: ``features_col`` is ``featuresCol``."""
    if name in LEARNING:
        return name
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)

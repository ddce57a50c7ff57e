"""The models that the estimators fit: transformers with a ``lightgbm.Booster``."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List

import numpy as np
from pyspark.ml import Model
from pyspark.ml.param.shared import HasProbabilityCol, HasRawPredictionCol
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from . import _columns, _library
from ._spark_params import PredictionParams

_MODEL, _FACTS = "lightgbmModel", "lightgbmFacts"


class _Writer(MLWriter):  # type: ignore[misc]
    """Writes a model as pyspark.ml writes its own; LightGBM's text is a part of the metadata."""

    def __init__(self, model: _BoosterModel) -> None:
        super().__init__()
        self._model = model

    def saveImpl(self, path: str) -> None:
        extra = {_MODEL: self._model._text, _FACTS: self._model._facts}
        DefaultParamsWriter.saveMetadata(self._model, path, _session(self), extra)


class _Reader(MLReader):  # type: ignore[misc]
    """Reads what :class:`_Writer` has written."""

    def __init__(self, type_: Any) -> None:
        super().__init__()
        self._type = type_

    def load(self, path: str) -> Any:
        metadata = DefaultParamsReader.loadMetadata(path, _session(self))
        model = self._type(metadata[_MODEL], metadata[_FACTS])
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _session(access: Any) -> Any:
    """Return what the installed PySpark reads and writes metadata with."""
    import pyspark

    if int(pyspark.__version__.partition(".")[0]) >= 4:
        return access.sparkSession
    return access.sparkSession.sparkContext


class _BoosterModel(Model, PredictionParams, MLWritable, MLReadable):  # type: ignore[misc]
    """A model of LightGBM that predicts the rows of a DataFrame.

    :param text: LightGBM's text of the model
    :param facts: what became of the training
    """

    def __init__(self, text: str = "", facts: Any = None) -> None:
        super().__init__()
        self._text = text
        self._facts: Dict[str, Any] = facts or {}
        self._loaded: Any = None
        self._setDefault(featuresCol="features", featuresCols=[], predictionCol="prediction")

    @property
    def booster_(self) -> Any:
        """The model as a ``lightgbm.Booster`` of the installed package."""
        if self._loaded is None:
            self._loaded = _library.load().Booster(model_str=self._text)
        return self._loaded

    @property
    def best_iteration_(self) -> int:
        """The best round, from 1, if early stopping ended the training; else 0."""
        return int(self._facts.get("best_iteration", 0))

    @property
    def evals_result_(self) -> Dict[str, Dict[str, List[float]]]:
        """The metrics of the validation rows after each round, by name."""
        return dict(self._facts.get("evals_result", {}))

    @property
    def feature_importances_(self) -> Any:
        """The number of splits that use each feature."""
        return self.booster_.feature_importance()

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_loaded": None}

    def write(self) -> Any:
        """Return a writer; ``save(path)`` is ``write().save(path)``."""
        return _Writer(self)

    @classmethod
    def read(cls) -> Any:
        """Return a reader; ``load(path)`` is ``read().load(path)``."""
        return _Reader(cls)

    def _predicted(self, dataset: Any, udf: Any) -> Any:
        from pyspark.sql import functions as F

        columns = _columns.features(dataset, self.getFeaturesCol(), self.feature_columns())
        features = columns[0] if not self.feature_columns() else F.array(*columns)
        return udf(features)

    def _transform(self, dataset: Any) -> Any:
        score = _scorer(self._text, "double", _values)
        return dataset.withColumn(self.getPredictionCol(), self._predicted(dataset, score))


class LGBMRegressionModel(_BoosterModel):
    """A regression model: ``transform`` adds the column of predictions."""


class LGBMRankerModel(_BoosterModel):
    """A ranking model: ``transform`` adds a score, which is greater for more relevant rows."""


class LGBMClassificationModel(_BoosterModel, HasProbabilityCol, HasRawPredictionCol):  # type: ignore[misc]
    """A classification model: ``transform`` adds predicted label, probabilities and raw scores.

    Probabilities and raw scores are Vectors with an element for each of ``classes_``. A column
    whose name is set to ``""`` is not added.
    """

    def __init__(self, text: str = "", facts: Any = None) -> None:
        super().__init__(text, facts)
        self._setDefault(probabilityCol="probability", rawPredictionCol="rawPrediction")

    @property
    def classes_(self) -> List[float]:
        """The labels, in the order of the elements of the probabilities."""
        return list(self._facts["classes"])

    @property
    def numClasses(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    def _transform(self, dataset: Any) -> Any:
        from pyspark.ml.functions import array_to_vector
        from pyspark.sql import functions as F

        classes = self.classes_
        scored = f"{self.uid}_scored"

        def scores(booster: Any, x: Any) -> Any:
            return _class_scores(booster, x, classes)

        type_ = "struct<prediction: double, probability: array<double>, raw: array<double>>"
        found = dataset.withColumn(
            scored, self._predicted(dataset, _scorer(self._text, type_, scores))
        )
        for name, column in (
            (self.getRawPredictionCol(), array_to_vector(F.col(scored)["raw"])),
            (self.getProbabilityCol(), array_to_vector(F.col(scored)["probability"])),
            (self.getPredictionCol(), F.col(scored)["prediction"]),
        ):
            if name:
                found = found.withColumn(name, column)
        return found.drop(scored)


def _values(booster: Any, x: Any) -> Any:
    import pandas as pd

    return pd.Series(booster.predict(x, num_threads=1))


def _class_scores(booster: Any, x: Any, classes: List[float]) -> Any:
    import pandas as pd

    probability = booster.predict(x, num_threads=1)
    raw = booster.predict(x, num_threads=1, raw_score=True)
    if probability.ndim == 1:
        probability = np.column_stack([1 - probability, probability])
        raw = np.column_stack([-raw, raw])
    label = np.asarray(classes)[probability.argmax(axis=1)]
    return pd.DataFrame({"prediction": label, "probability": list(probability), "raw": list(raw)})


def _scorer(text: str, type_: str, score: Any) -> Any:
    """Return a function of a column of features, which loads the model once in each task."""
    import pandas as pd
    from pyspark.sql.functions import pandas_udf

    def scored(batches: Iterator[Any]) -> Iterator[Any]:
        booster = _library.load().Booster(model_str=text)
        empty = np.empty((0, booster.num_feature()))
        for features in batches:
            yield score(booster, np.stack(features.to_numpy()) if len(features) else empty)

    # PySpark takes the kind of function from its types.
    frames = type_.startswith("struct")
    scored.__annotations__ = {
        "batches": Iterator[pd.Series],
        "return": Iterator[pd.DataFrame] if frames else Iterator[pd.Series],
    }
    return pandas_udf(scored, type_)

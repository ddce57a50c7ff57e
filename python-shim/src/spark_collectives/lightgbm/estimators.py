"""Estimators of pyspark.ml that train LightGBM models in one barrier stage."""

from __future__ import annotations

import json
import logging
from typing import Any, ClassVar, Dict, List, Optional

from pyspark.ml import Estimator
from pyspark.ml.param.shared import HasProbabilityCol, HasRawPredictionCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from .. import _job
from . import _fit_task, _rows
from ._fit_task import FitTask
from ._spark_params import FitParams, camel_case, snake_case
from .models import LGBMClassificationModel, LGBMRankerModel, LGBMRegressionModel

_logger = logging.getLogger("spark_collectives.lightgbm")


class _BoosterEstimator(Estimator, FitParams, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """An estimator of ``pyspark.ml`` that trains a LightGBM model.

    Arguments are the Params, by their names or in the style of scikit-learn (``featuresCol`` or
    ``features_col``), and any other parameter of LightGBM by its name. Parameters that one tunes,
    such as ``num_leaves``, are Params themselves, see ``explainParams()``; the others are in the
    Param ``lightgbmParams``.

    :param features_col: a column of Vectors or arrays, or a list of numeric columns. NaN, and null
        in a numeric column, is a missing value
    :param validation_indicator_col: a boolean column; rows where it is true are not trained on,
        but evaluated after each round
    :param num_workers: the number of ranks: tasks that run at the same time, each with the rows of
        a partition and ``spark.task.cpus`` threads
    :param callbacks: callbacks of LightGBM, which run on each rank; not saved
    :param feval: one metric or several of your own, as ``lightgbm.train`` takes them; not saved
    """

    _model_type: ClassVar[Any]
    _classifies: ClassVar[bool] = False
    _default_objective: ClassVar[Optional[str]] = None

    def __init__(self, *, callbacks: Any = None, feval: Any = None, **params: Any) -> None:
        super().__init__()
        self.callbacks: List[Any] = list(callbacks or [])
        self.feval = feval
        self._setDefault(
            featuresCol="features",
            featuresCols=[],
            labelCol="label",
            predictionCol="prediction",
            numWorkers=1,
            repartition=True,
            categoricalFeatures=[],
            binConstruction="shared",
            stageRetry=False,
            checkpointRounds=0,
            lightgbmParams={},
            n_estimators=100,
        )
        self.setParams(**params)

    def setParams(self, **params: Any) -> Any:
        """Set Params, and parameters of LightGBM, as the constructor does; return this.

        :raises TypeError: if a name is neither a Param nor in the style of LightGBM
        """
        others: Dict[str, Any] = {}
        for name, value in params.items():
            known = camel_case(name)
            if known == "featuresCol" and not isinstance(value, str):
                known = "featuresCols"
            if known == "initModel" and hasattr(value, "model_to_string"):
                value = value.model_to_string()
            if self.hasParam(known):
                self._set(**{known: value})
            elif name != name.lower():
                raise TypeError(
                    f"{name} is neither a Param nor a parameter of LightGBM, whose names are in "
                    f"lower case ({snake_case(name)}); LightGBM would ignore it"
                )
            else:
                others[name] = value
        if others:
            self._set(lightgbmParams={**self.getOrDefault(self.lightgbmParams), **others})
        return self

    def _fit(self, dataset: Any) -> Any:
        session = dataset.sparkSession
        ranks = self.value("numWorkers")
        if ranks < 1:
            raise ValueError(f"num_workers must be at least 1, and is {ranks}")
        rows = self._spread(dataset.select(*self._expressions(dataset.schema)), ranks)
        if not _job.is_remote(session):
            _job.require_jar(session.sparkContext)
            if self.value("repartition"):
                context = session.sparkContext
                _job.require_slots(context, context.parallelize(range(ranks), ranks)._jrdd.rdd())
        stage = rows.mapInArrow(self._task().on_batches, _fit_task.SCHEMA, barrier=True)
        if self.value("stageRetry"):
            # Spark runs a barrier stage again only if a shuffle follows it.
            stage = stage.repartition(1)
        ((text, outcome),) = stage.collect()
        return self._copyValues(self._model_type(text, json.loads(outcome)))

    def _expressions(self, schema: Any) -> List[Any]:
        from pyspark.sql import functions as F

        found = _rows.feature_expressions(schema, self.getFeaturesCol(), self.feature_columns())
        found.append(F.col(self.getLabelCol()).cast("double").alias(_rows.LABEL))
        if self.value("weightCol"):
            found.append(F.col(self.getWeightCol()).cast("double").alias(_rows.WEIGHT))
        if self.value("initScoreCol"):
            found.append(_rows.number_or_array(schema, self.value("initScoreCol")))
        if self.value("validationIndicatorCol"):
            indicator = F.col(self.getValidationIndicatorCol())
            found.append(indicator.cast("boolean").alias(_rows.VALIDATION))
        return found

    def _spread(self, rows: Any, ranks: int) -> Any:
        """Give each rank a partition."""
        if not self.value("repartition"):
            return rows
        _logger.info("The rows are spread over %d partitions, one for each rank", ranks)
        return rows.repartition(ranks)

    def _task(self) -> FitTask:
        params = self.lightgbm_params()
        rounds = int(params.pop("n_estimators"))
        if self._default_objective is not None:
            params.setdefault("objective", self._default_objective)
        return FitTask(
            params,
            rounds,
            self._classifies,
            self.feature_columns(),
            list(self.value("categoricalFeatures")),
            self.value("binConstruction"),
            self.value("checkpointRounds"),
            self.value("initModel"),
            self.callbacks,
            self.feval,
        )


class LGBMRegressor(_BoosterEstimator):
    """Fits a regression with LightGBM to the rows of a DataFrame, in one barrier stage.

    The arguments are those of :class:`LGBMClassifier`. The objective is ``regression`` unless it
    is given.
    """

    _model_type = LGBMRegressionModel
    _default_objective = "regression"


class LGBMClassifier(_BoosterEstimator, HasProbabilityCol, HasRawPredictionCol):  # type: ignore[misc]
    """Fits a classifier with LightGBM to the rows of a DataFrame, in one barrier stage.

    ::

        model = LGBMClassifier(num_workers=4, n_estimators=100, num_leaves=31).fit(df)

    Labels are whole numbers. The objective is ``binary`` for two of them, else ``multiclass``.

    Arguments are Params, as ``featuresCol`` or ``features_col``, and all parameters of LightGBM, by
    its names. ``features_col`` is a column of Vectors or arrays, or a list of numeric columns;
    rows where the boolean ``validation_indicator_col`` is true are evaluated instead of trained on;
    ``num_workers`` tasks run at the same time. ``explainParams()`` lists all Params. ``callbacks``
    and ``feval`` are those of ``lightgbm.train``; they run on each rank, and are not saved.
    """

    _model_type = LGBMClassificationModel
    _classifies = True


class LGBMRanker(_BoosterEstimator):
    """Fits a ranker with LightGBM to the rows of a DataFrame, in one barrier stage.

    The arguments are those of :class:`LGBMClassifier`. ``group_col`` has the query of each row. All
    rows of a query come to one rank. With ``repartition=False`` they must be in one partition, one
    after the other.
    """

    _model_type = LGBMRankerModel
    _default_objective = "lambdarank"

    def _expressions(self, schema: Any) -> List[Any]:
        from pyspark.sql import functions as F

        if not self.value("groupCol"):
            raise ValueError("A ranker needs group_col, the column with the query of each row")
        query = F.col(self.value("groupCol")).alias(_rows.GROUP)
        return [*super()._expressions(schema), query]

    def _spread(self, rows: Any, ranks: int) -> Any:
        if not self.value("repartition"):
            return rows
        _logger.info("The queries are spread over at most %d partitions", ranks)
        return rows.repartitionByRange(ranks, _rows.GROUP).sortWithinPartitions(_rows.GROUP)

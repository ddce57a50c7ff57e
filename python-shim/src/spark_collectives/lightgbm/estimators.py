"""Estimators of pyspark.ml that train LightGBM models in one barrier stage."""

from __future__ import annotations

import logging
from typing import Any, ClassVar, Dict, List, Optional

from pyspark.ml import Estimator
from pyspark.ml.param import Param
from pyspark.ml.param.shared import HasProbabilityCol, HasRawPredictionCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from .. import _job, _reports
from .._display import Display
from ..runner import RankFailedError, run_on_rows
from . import _columns, _lightgbm_parameters, _rows
from ._fit_task import FitTask, Fitted
from ._spark_params import LEARNING, FitParams, HasClassWeight, HasGroupCol, camel_case
from .models import LGBMClassificationModel, LGBMRankerModel, LGBMRegressionModel

_logger = logging.getLogger("spark_collectives.lightgbm")

#: Of LightGBM's parameters that name columns of its files, what takes their place.
_COLUMNS = {
    "label_column": "label_col",
    "weight_column": "weight_col",
    "group_column": "group_col",
    "ignore_column": "features_col",
    "categorical_feature": "categorical_features",
}


class _Silent(Display):
    """Collects what the ranks raise. What they print is in the logs of the executors."""

    shows_lines = False

    def __init__(self) -> None:
        super().__init__(0, False)

    def _show(self, report: _reports.Report) -> None:
        if report.kind == _reports.EXCEPTION:
            self.exceptions.append(report)

    def show_dropped(self, count: int) -> None:
        """Show nothing."""


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
    #: What is spread over the ranks.
    _units: ClassVar[str] = "rows"

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

        :raises TypeError: if a name is neither a Param nor a parameter of LightGBM. Where lightgbm
            is not installed, ``fit`` refuses the latter
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
            else:
                self._require_parameter(name)
                others[name] = value
        if others:
            self._set(lightgbmParams={**self.getOrDefault(self.lightgbmParams), **others})
        return self

    def _require_parameter(self, name: str) -> None:
        own = [_argument(param.name) for param in self.params]
        try:
            problem = _lightgbm_parameters.unknown(name, own)
            known = "" if problem else _lightgbm_parameters.canonical(name)
        except (ImportError, OSError):
            # The ranks have it, and refuse the name.
            return
        if known in _COLUMNS:
            problem = f"{name} is for LightGBM's files: use {_COLUMNS[known]}"
        if problem:
            raise TypeError(problem)

    def fit(self, dataset: Any, params: Any = None) -> Any:
        """Fit a model to the rows of a DataFrame, or one for each map of Params in a list.

        :param params: values of Params of this estimator, such as ``estimator.num_leaves``
        :raises ValueError: if the rows cannot be trained on, or a parameter is not possible
        :raises TypeError: if a column has a type that is not possible, or a key is no Param of this
        """
        for key in params if isinstance(params, dict) else ():
            if not isinstance(key, Param) or key.parent != self.uid or not self.hasParam(key.name):
                raise TypeError(
                    f"{key} is no Param of {self.uid}: take those of the estimator itself, such as "
                    "{estimator.num_leaves: 7}"
                )
        return super().fit(dataset, params)

    def _fit(self, dataset: Any) -> Any:
        session = dataset.sparkSession
        ranks = self.value("numWorkers")
        if ranks < 1:
            raise ValueError(f"num_workers must be at least 1, and is {ranks}")
        repartition = self.value("repartition")
        if not _job.is_remote(session):
            _job.require_jar(session.sparkContext)
        rows = dataset.select(*self._expressions(dataset))
        if repartition:
            rows = self._spread(rows, ranks)
        try:
            results = run_on_rows(
                session,
                rows,
                self._task().on_rows,
                _Silent(),
                stage_retry=self.value("stageRetry"),
                ranks=ranks if repartition else None,
            )
        except RankFailedError as e:
            # Where no rank has failed, Spark has: the error is that of any other job.
            cause = e.__cause__
            if e.rank >= 0 or cause is None:
                raise
            raise cause from None
        return self._copyValues(self._model(results, ranks if repartition else len(results)))

    def _model(self, results: Dict[int, Fitted], ranks: int) -> Any:
        # A DataFrame without rows may have no partitions, even if it is spread over some.
        if not results:
            raise ValueError("There are no rows to train on: the DataFrame has none")
        fitted = results[0]
        if fitted.refusal is not None:
            raise fitted.refusal
        if fitted.ranks < ranks:
            _logger.warning(
                "%d of %d ranks have trained: there are no more %s to train on",
                fitted.ranks,
                ranks,
                self._units,
            )
        return self._model_type(fitted.model, fitted.facts)

    def _expressions(self, dataset: Any) -> List[Any]:
        found = _columns.features(dataset, self.getFeaturesCol(), self.feature_columns())
        found.append(_columns.label(dataset, self.getLabelCol()))
        for name, column in (
            ("weightCol", _columns.weight),
            ("initScoreCol", _columns.init_score),
            ("validationIndicatorCol", _columns.validation),
        ):
            if self.value(name):
                found.append(column(dataset, self.value(name)))
        return found

    def _spread(self, rows: Any, ranks: int) -> Any:
        """Give each rank a partition."""
        _logger.info("The rows are spread over %d partitions, one for each rank", ranks)
        return rows.repartition(ranks)

    def _task(self) -> FitTask:
        params = self.lightgbm_params()
        rounds = int(params.pop("n_estimators"))
        return FitTask(
            params,
            self._default_objective,
            rounds,
            self._classifies,
            self.value("classWeight") if self._classifies else None,
            self.feature_columns(),
            list(self.value("categoricalFeatures")),
            self.value("repartition"),
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


class LGBMClassifier(
    _BoosterEstimator,
    HasClassWeight,
    HasProbabilityCol,  # type: ignore[misc]
    HasRawPredictionCol,  # type: ignore[misc]
):
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


class LGBMRanker(_BoosterEstimator, HasGroupCol):
    """Fits a ranker with LightGBM to the rows of a DataFrame, in one barrier stage.

    The arguments are those of :class:`LGBMClassifier`. ``group_col`` has the query of each row. All
    rows of a query come to one rank. With ``repartition=False`` they must be in one partition, one
    after the other.
    """

    _model_type = LGBMRankerModel
    _default_objective = "lambdarank"
    _units = "queries"

    def _expressions(self, dataset: Any) -> List[Any]:
        if not self.value("groupCol"):
            raise ValueError("A ranker needs group_col, the column with the query of each row")
        return [*super()._expressions(dataset), _columns.query(dataset, self.value("groupCol"))]

    def _spread(self, rows: Any, ranks: int) -> Any:
        _logger.info("The queries are spread over %d partitions, one for each rank", ranks)
        return rows.repartition(ranks, _rows.GROUP).sortWithinPartitions(_rows.GROUP)


def _argument(param: str) -> str:
    """Return the name of the argument for a Param: ``featuresCol`` is ``features_col``."""
    return param if param in LEARNING else _lightgbm_parameters.snake_case(param)

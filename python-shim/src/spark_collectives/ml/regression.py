"""Estimators of ``pyspark.ml.regression`` that fit in one barrier stage."""

from __future__ import annotations

from pyspark.ml import regression

from ._estimator import BarrierEstimator, java_module

__all__ = ["AFTSurvivalRegression", "FMRegressor", "LinearRegression"]

_JAVA = java_module(__name__)


class LinearRegression(BarrierEstimator, regression.LinearRegression):  # type: ignore[misc]
    """``pyspark.ml.regression.LinearRegression``, fitted in one barrier stage.

    By default, with up to 4096 features, Spark's own code solves the normal equations. For a fit
    that iterates, set ``solver="l-bfgs"`` or ``loss="huber"``.
    """

    __module__ = _JAVA


class AFTSurvivalRegression(BarrierEstimator, regression.AFTSurvivalRegression):  # type: ignore[misc]
    """``pyspark.ml.regression.AFTSurvivalRegression``, fitted in one barrier stage."""

    __module__ = _JAVA


class FMRegressor(BarrierEstimator, regression.FMRegressor):  # type: ignore[misc]
    """``pyspark.ml.regression.FMRegressor``, whose iterations run in one barrier stage."""

    __module__ = _JAVA

"""Estimators of ``pyspark.ml.regression`` that fit in one barrier stage."""

from __future__ import annotations

from pyspark.ml import regression

from ._estimator import BarrierEstimator, java_module

__all__ = ["AFTSurvivalRegression", "FMRegressor", "LinearRegression"]

_JAVA = java_module(__name__)


class LinearRegression(BarrierEstimator, regression.LinearRegression):  # type: ignore[misc]
    """``pyspark.ml.regression.LinearRegression``, fitted in one barrier stage."""

    __module__ = _JAVA


class AFTSurvivalRegression(BarrierEstimator, regression.AFTSurvivalRegression):  # type: ignore[misc]
    """``pyspark.ml.regression.AFTSurvivalRegression``, fitted in one barrier stage."""

    __module__ = _JAVA


class FMRegressor(BarrierEstimator, regression.FMRegressor):  # type: ignore[misc]
    """``pyspark.ml.regression.FMRegressor``, fitted in one barrier stage."""

    __module__ = _JAVA

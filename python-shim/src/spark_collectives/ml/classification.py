"""Estimators of ``pyspark.ml.classification`` that fit in one barrier stage."""

from __future__ import annotations

from pyspark.ml import classification

from ._estimator import BarrierEstimator, java_module

__all__ = ["FMClassifier", "LinearSVC", "LogisticRegression"]

_JAVA = java_module(__name__)


class LogisticRegression(BarrierEstimator, classification.LogisticRegression):  # type: ignore[misc]
    """``pyspark.ml.classification.LogisticRegression``, fitted in one barrier stage."""

    __module__ = _JAVA


class LinearSVC(BarrierEstimator, classification.LinearSVC):  # type: ignore[misc]
    """``pyspark.ml.classification.LinearSVC``, fitted in one barrier stage."""

    __module__ = _JAVA


class FMClassifier(BarrierEstimator, classification.FMClassifier):  # type: ignore[misc]
    """``pyspark.ml.classification.FMClassifier``, whose iterations run in one barrier stage."""

    __module__ = _JAVA

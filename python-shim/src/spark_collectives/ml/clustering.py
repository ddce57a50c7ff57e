"""Estimators of ``pyspark.ml.clustering`` that fit in one barrier stage."""

from __future__ import annotations

from pyspark.ml import clustering

from ._estimator import BarrierEstimator, java_module

__all__ = ["GaussianMixture", "KMeans"]

_JAVA = java_module(__name__)


class KMeans(BarrierEstimator, clustering.KMeans):  # type: ignore[misc]
    """``pyspark.ml.clustering.KMeans``, whose iterations run in one barrier stage."""

    __module__ = _JAVA


class GaussianMixture(BarrierEstimator, clustering.GaussianMixture):  # type: ignore[misc]
    """``pyspark.ml.clustering.GaussianMixture``, whose iterations run in one barrier stage."""

    __module__ = _JAVA

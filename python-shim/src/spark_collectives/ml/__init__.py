"""Spark ML's estimators, with the whole fit in one barrier stage.

The classes have the names, the parameters and the behaviour of those of ``pyspark.ml``, and fit
models of ``pyspark.ml``; only the import differs::

    from spark_collectives.ml.classification import LogisticRegression

    model = LogisticRegression(maxIter=100, regParam=0.01).fit(rows)

They need the jar of :func:`jar_path`, which ``spark_collectives.configure`` gives to a session.
Import this package before you load a pipeline that contains one of them.
"""

from ..session import ml_jar_path as jar_path
from . import classification, clustering, regression

__all__ = ["classification", "clustering", "jar_path", "regression"]

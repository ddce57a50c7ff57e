"""Spark ML's estimators, with the whole fit in one barrier stage.

Each class is a subclass of that of the same name in ``pyspark.ml``, with its Params, and fits its
model. Only the import differs::

    from spark_collectives.ml.classification import LogisticRegression

    model = LogisticRegression(maxIter=100, regParam=0.01).fit(rows)

They need the jar at :func:`jar_path`, which ``spark_collectives.configure`` gives to a session.
Import this package before you load an estimator, or a pipeline that contains one.
"""

from ..session import ml_jar_path as jar_path
from . import classification, clustering, regression

__all__ = ["classification", "clustering", "jar_path", "regression"]

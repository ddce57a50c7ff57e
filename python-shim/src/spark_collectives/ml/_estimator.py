"""The Java side of the estimators."""

from __future__ import annotations

import sys
from typing import Any

from pyspark.ml.wrapper import JavaWrapper

from ..session import PLUGIN, jar_path, ml_jar_path

_SPARK = "org.apache.spark.ml."
_OWN = "org.sparkcollectives.ml."


def java_module(name: str) -> str:
    """Make a module known by the name of its Java package too, and return that name.

    ``pyspark.ml`` takes the full name of a Java class, with ``pyspark`` instead of
    ``org.apache.spark``, for the name of its Python class, and the other way round. It does so
    when it saves and loads, also within pipelines, so a class of another package has to be found
    by the name of its Java class.
    """
    java = name.replace("spark_collectives.ml.", _OWN, 1)
    sys.modules[java] = sys.modules[name]
    return java


class BarrierEstimator:
    """Makes an estimator of ``pyspark.ml`` one whose Java object is this library's."""

    @staticmethod
    def _new_java_obj(java_class: str, *args: Any) -> Any:
        own = java_class.replace(_SPARK, _OWN, 1)
        try:
            return JavaWrapper._new_java_obj(own, *args)
        except TypeError as e:
            # Py4J takes the name of a class that is not there for that of a package.
            if "JavaPackage" not in str(e):
                raise
            raise RuntimeError(
                f"Spark's driver has no class {own}: begin the session with "
                "spark_collectives.configure(SparkSession.builder), or start it with spark-submit "
                f"--jars {jar_path()},{ml_jar_path()} --conf spark.plugins={PLUGIN}"
            ) from None

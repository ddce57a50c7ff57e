"""A client of Spark Connect that prints the errors of fits, by the name of their case.

Its arguments are the server's address and, optionally, what the session's setting
spark.connect.ml.backend.classes gets.
"""

import json
import sys

from pyspark.ml.classification import FMClassifier, LogisticRegression
from pyspark.ml.clustering import KMeans
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

NAN = float("nan")
CASES = {
    "label": (LogisticRegression, {}, [(0.5, 1.0, 1.0), (0.5, 1.0, 2.0)]),
    "label of a factorization machine": (FMClassifier, {}, [(0.5, 1.0, 1.0), (0.5, 1.0, 2.0)]),
    "weight": (KMeans, {"weightCol": "weight"}, [(0.0, -1.0, 1.0), (1.0, -1.0, 2.0)]),
    "feature": (LogisticRegression, {}, [(0.0, 1.0, NAN), (1.0, 1.0, NAN)]),
}


def error(estimator, rows):
    try:
        estimator.fit(rows)
    except Exception as e:
        return [type(e).__name__, str(e).splitlines()[0]]
    return None


def main(address, *backend):
    spark = SparkSession.builder.remote(address).create()
    for name in backend:
        spark.conf.set("spark.connect.ml.backend.classes", name)
    found = {}
    for name, (estimator, params, rows) in CASES.items():
        cells = [(label, weight, Vectors.dense([x, 1.0])) for label, weight, x in rows]
        table = spark.createDataFrame(cells, ["label", "weight", "features"])
        found[name] = error(estimator(**params), table)
    print(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

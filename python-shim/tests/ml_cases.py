"""Fits that Spark's own estimators and those of ``spark_collectives.ml`` are compared by."""

from typing import Any, Dict, NamedTuple

import numpy as np
import pandas as pd
from pyspark.ml.functions import array_to_vector


class Case(NamedTuple):
    """One fit of an estimator."""

    #: The module of ``pyspark.ml`` and of ``spark_collectives.ml``.
    module: str
    estimator: str
    data: str
    params: Dict[str, Any]
    #: Whether the fit is Spark's own, because the parameters ask for what no barrier stage does.
    falls_back: bool = False

    def __str__(self):
        words = [f"{name}={value}" for name, value in self.params.items()]
        return "-".join([self.estimator, self.data, *words])


def _supervised(kind, rows=240, features=5, seed=11):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, features)) * [1, 3, 0.2, 1, 5] + [0, 1, 0, -4, 2]
    score = x @ [1.0, -0.4, 2.0, 0.3, -0.2] + 1.5 + random.normal(size=rows)
    columns = {"weight": random.integers(1, 4, rows).astype(float)}
    if kind == "binary":
        columns["label"] = (score > 0).astype(float)
    elif kind == "classes":
        columns["label"] = np.digitize(score, [-1.5, 1.5]).astype(float)
    elif kind == "amounts":
        columns["label"] = score
    else:
        columns["label"] = np.exp(score / 4)
        columns["censor"] = random.integers(0, 2, rows).astype(float)
    return x, columns


def _clusters(rows=240, seed=12):
    random = np.random.default_rng(seed)
    centres = random.normal(size=(4, 3)) * 6 + 4
    x = centres[random.integers(0, 4, rows)] + random.normal(size=(rows, 3))
    return x, {"weight": random.integers(1, 4, rows).astype(float)}


def frame(spark, data):
    """Return the data of that name, in two partitions."""
    x, columns = _clusters() if data == "clusters" else _supervised(data)
    table = pd.DataFrame({**columns, "values": list(map(list, x))})
    rows = spark.createDataFrame(table).withColumn("features", array_to_vector("values"))
    return rows.drop("values").repartition(2).cache()


def _cases(module, estimator, data, common, *params, fallbacks=()):
    found = [Case(module, estimator, data, {**common, **each}) for each in params]
    return found + [Case(module, estimator, data, {**common, **each}, True) for each in fallbacks]


CASES = [
    *_cases(
        "classification",
        "LogisticRegression",
        "binary",
        {"maxIter": 20, "tol": 1e-10},
        {"regParam": 0.1},
        {"regParam": 0.05, "elasticNetParam": 0.5},
        {"weightCol": "weight", "fitIntercept": False, "standardization": False},
        {"thresholds": [0.3, 0.7], "aggregationDepth": 3, "maxBlockSizeInMB": 0.01},
    ),
    *_cases(
        "classification",
        "LogisticRegression",
        "classes",
        {"maxIter": 20, "tol": 1e-10},
        {"regParam": 0.1},
    ),
    *_cases(
        "classification",
        "LinearSVC",
        "binary",
        {"maxIter": 15, "tol": 1e-10},
        {"regParam": 0.1, "weightCol": "weight"},
        {"regParam": 0.01, "fitIntercept": False, "threshold": 0.5},
    ),
    *_cases(
        "classification",
        "FMClassifier",
        "binary",
        {"maxIter": 15, "stepSize": 0.05, "seed": 3},
        {"miniBatchFraction": 0.5, "factorSize": 4},
    ),
    *_cases(
        "regression",
        "FMRegressor",
        "amounts",
        {"maxIter": 15, "seed": 3},
        {"stepSize": 0.05, "regParam": 0.01},
        {"solver": "gd", "stepSize": 0.001, "fitLinear": False},
    ),
    *_cases(
        "regression",
        "LinearRegression",
        "amounts",
        {"maxIter": 20, "tol": 1e-10},
        {"solver": "l-bfgs", "regParam": 0.1, "weightCol": "weight"},
        {"solver": "l-bfgs", "regParam": 0.1, "elasticNetParam": 0.5},
        {"solver": "l-bfgs", "loss": "huber", "epsilon": 1.5, "regParam": 0.1},
        fallbacks=[{"solver": "normal", "regParam": 0.1}],
    ),
    *_cases(
        "regression",
        "AFTSurvivalRegression",
        "lifetimes",
        {"maxIter": 15, "tol": 1e-10},
        {"quantileProbabilities": [0.1, 0.9]},
    ),
    *_cases(
        "clustering",
        "KMeans",
        "clusters",
        {"k": 4, "seed": 5, "maxIter": 10},
        {},
        {"initMode": "random", "weightCol": "weight"},
        {"distanceMeasure": "cosine"},
    ),
    *_cases(
        "clustering",
        "GaussianMixture",
        "clusters",
        {"k": 3, "seed": 5, "maxIter": 8},
        {"weightCol": "weight"},
    ),
]

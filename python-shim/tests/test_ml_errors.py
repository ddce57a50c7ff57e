"""Errors of a user's data: a fit raises what Spark's own estimator raises for the same rows."""

import importlib
from typing import NamedTuple

import pytest

pytest.importorskip("pandas")

from py4j.protocol import Py4JJavaError
from pyspark.ml.functions import array_to_vector
from pyspark.sql import functions as F

from ml_cases import CASES

#: The first case of each estimator.
PARAMS = {case.estimator: case for case in reversed(CASES)}

CLASSIFIERS = ("LogisticRegression", "LinearSVC", "FMClassifier")
WEIGHTED = ("LogisticRegression", "LinearSVC", "LinearRegression", "KMeans", "GaussianMixture")


def _fractional_label(rows):
    return rows.withColumn("label", F.lit(0.5))


def _negative_weight(rows):
    return rows.withColumn("weight", F.when(F.col("weight") > 2, -1.0).otherwise(1.0))


def _nan_feature(rows):
    size = len(rows.first()["features"])
    nan = F.array(*[F.lit(float("nan"))] * size)
    return rows.withColumn("features", array_to_vector(nan))


class Refusal(NamedTuple):
    """One change of sound rows that Spark's own estimator refuses."""

    estimator: str
    change: object

    def __str__(self):
        return f"{self.estimator}{self.change.__name__}"


REFUSALS = [
    *[Refusal(each, _fractional_label) for each in CLASSIFIERS],
    *[Refusal(each, _negative_weight) for each in WEIGHTED],
    *[Refusal(each, _nan_feature) for each in sorted(PARAMS)],
]


def _error(package, refusal, rows):
    """Return the class of what a fit raises, and its message or that of its first cause."""
    case = PARAMS[refusal.estimator]
    params = dict(case.params)
    if refusal.change is _negative_weight:
        params["weightCol"] = "weight"
    estimator = getattr(importlib.import_module(f"{package}.{case.module}"), refusal.estimator)
    with pytest.raises(Exception) as raised:
        estimator(**params).fit(refusal.change(rows))
    error = raised.value
    if not isinstance(error, Py4JJavaError):
        return type(error), str(error)
    # Spark 3.5 raises its own error of the stage, whose number is in the message.
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return type(error), cause.toString()


def _sampled(refusals):
    """Leave the first of each change to each build, the others to ``-m parity``."""
    first = {refusal.change: refusal for refusal in reversed(refusals)}
    return [
        pytest.param(
            refusal,
            id=str(refusal),
            marks=() if first[refusal.change] is refusal else pytest.mark.parity,
        )
        for refusal in refusals
    ]


@pytest.mark.parametrize("refusal", _sampled(REFUSALS))
def test_a_fit_refuses_rows_with_the_error_of_sparks_own(frames, refusal):
    rows = frames(PARAMS[refusal.estimator].data)
    expected = _error("pyspark.ml", refusal, rows)
    assert _error("spark_collectives.ml", refusal, rows) == expected
    assert "MUST" in expected[1]

"""Estimators of ``spark_collectives.ml`` beside Spark's own, on the same data."""

import importlib

import numpy as np
import pytest

pytest.importorskip("pandas")

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml import classification as sparks
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import StandardScaler
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder

from conftest import barrier_jobs
from ml_cases import CASES
from spark_collectives import ml
from spark_collectives.ml.classification import LogisticRegression

ESTIMATORS = sorted({(case.module, case.estimator) for case in CASES})

#: The first case of each estimator runs in each build, the others with ``-m parity``.
FIRST = {case.estimator: case for case in reversed(CASES)}
SAMPLED = [
    pytest.param(
        case,
        id=str(case),
        marks=() if FIRST[case.estimator] is case else pytest.mark.parity,
    )
    for case in CASES
]


def both(module, estimator):
    """Return Spark's class and this package's."""
    packages = ("pyspark.ml", "spark_collectives.ml")
    return [getattr(importlib.import_module(f"{each}.{module}"), estimator) for each in packages]


def learned(model):
    """Return all numbers that a model has learned, by name."""
    found = {}
    # A multinomial logistic regression has no vector of coefficients.
    several = ("coefficientMatrix", "interceptVector")
    single = ("coefficients", "intercept", "scale", "linear", "factors")
    for name in several if hasattr(type(model), several[0]) else single:
        if hasattr(type(model), name):
            value = getattr(model, name)
            found[name] = value.toArray() if hasattr(value, "toArray") else value
    if hasattr(model, "clusterCenters"):
        found["centres"] = model.clusterCenters()
    if hasattr(model, "gaussians"):
        found["weights"] = model.weights
        found["means"] = [each.mean.toArray() for each in model.gaussians]
        found["covariances"] = [each.cov.toArray() for each in model.gaussians]
    if getattr(model, "hasSummary", False):
        for name in ("objectiveHistory", "trainingCost", "logLikelihood", "totalIterations"):
            if hasattr(model.summary, name):
                value = getattr(model.summary, name)
                found[name] = value() if callable(value) else value
    return found


def values(rows):
    """Return the rows' cells as numbers, sorted by features: partitions have no order."""
    cells = [[np.ravel(cell) for cell in row] for row in rows.collect()]
    return np.array(sorted(tuple(np.concatenate(row)) for row in cells))


def assert_same(model, expected, data, relative=1e-9):
    assert type(model) is type(expected)
    have, want = learned(model), learned(expected)
    assert have.keys() == want.keys()
    for name, value in want.items():
        np.testing.assert_allclose(have[name], value, relative, relative, err_msg=name)
    added = [name for name in expected.transform(data).columns if name not in data.columns]
    columns = ["features", *added]
    np.testing.assert_allclose(
        values(model.transform(data).select(columns)),
        values(expected.transform(data).select(columns)),
        relative,
        relative,
    )


@pytest.mark.parametrize("case", SAMPLED)
def test_a_fit_gives_the_model_of_sparks_own_estimator(spark, frames, case):
    stock, own = both(case.module, case.estimator)
    data = frames(case.data)
    expected = stock(**case.params).fit(data)
    before = barrier_jobs(spark)
    model = own(**case.params).fit(data)
    assert barrier_jobs(spark) - before == (0 if case.falls_back else 1)
    assert_same(model, expected, data)


@pytest.mark.parametrize(("module", "estimator"), ESTIMATORS)
def test_an_estimator_has_the_parameters_of_sparks_own(spark, module, estimator):
    stock, own = (each() for each in both(module, estimator))
    described = [
        {param.name: (param.doc, each.hasDefault(param)) for param in each.params}
        for each in (stock, own)
    ]
    assert described[0] == described[1]
    defaults = [
        {param.name: each.getOrDefault(param) for param in each.params if each.hasDefault(param)}
        for each in (stock, own)
    ]
    assert defaults[0] == defaults[1]
    assert own._java_obj.getClass().getName() == f"org.sparkcollectives.ml.{module}.{estimator}"


@pytest.mark.parametrize(("module", "estimator"), ESTIMATORS)
def test_an_estimator_is_copied_saved_and_loaded(spark, tmp_path, module, estimator):
    _, own = both(module, estimator)
    first = own(maxIter=7)
    copied = first.copy({first.tol: 1e-3} if hasattr(first, "tol") else {})
    copied.save(str(tmp_path / "estimator"))
    loaded = own.load(str(tmp_path / "estimator"))
    assert type(copied) is type(loaded) is own
    assert loaded.uid == copied.uid == first.uid
    for param in copied.params:
        assert loaded.isDefined(param.name) == copied.isDefined(param)
        if copied.isDefined(param):
            assert loaded.getOrDefault(param.name) == copied.getOrDefault(param)
    assert first.getMaxIter() == 7
    for each in (copied, loaded):
        assert each._java_obj.getClass().getName().startswith("org.sparkcollectives.ml.")


def test_arguments_must_be_named():
    with pytest.raises(TypeError, match="keyword arguments"):
        LogisticRegression("features")


def test_a_pipeline_is_saved_and_loaded_and_its_model_needs_sparks_classes_only(
    spark, frames, tmp_path
):
    data = frames("classes")
    scaler = StandardScaler(inputCol="features", outputCol="scaled", withMean=True)
    stages = [
        Pipeline(stages=[scaler, each(featuresCol="scaled", maxIter=5, regParam=0.1)])
        for each in (sparks.LogisticRegression, LogisticRegression)
    ]
    stages[1].save(str(tmp_path / "pipeline"))
    loaded = Pipeline.load(str(tmp_path / "pipeline"))
    assert type(loaded.getStages()[1]) is LogisticRegression

    before = barrier_jobs(spark)
    model = loaded.fit(data)
    assert barrier_jobs(spark) == before + 1
    model.save(str(tmp_path / "model"))
    written = [path.read_text() for path in (tmp_path / "model").rglob("part-*.txt")]
    written += [path.read_text() for path in (tmp_path / "model").rglob("part-00000")]
    assert written and "sparkcollectives" not in "".join(written)
    again = PipelineModel.load(str(tmp_path / "model"))
    expected = stages[0].fit(data)
    assert_same(model.stages[1], expected.stages[1], expected.stages[0].transform(data))
    assert type(again.stages[1]) is sparks.LogisticRegressionModel
    assert learned(again.stages[1]).keys() <= learned(model.stages[1]).keys()
    np.testing.assert_array_equal(
        again.stages[1].coefficientMatrix.toArray(), model.stages[1].coefficientMatrix.toArray()
    )


def test_a_cross_validator_chooses_as_with_sparks_own_estimator(spark, frames, tmp_path):
    data = frames("classes")

    def validator(estimator):
        grid = ParamGridBuilder().addGrid(estimator.regParam, [0.01, 5.0]).build()
        return CrossValidator(
            estimator=estimator,
            estimatorParamMaps=grid,
            evaluator=MulticlassClassificationEvaluator(),
            numFolds=2,
            seed=3,
            parallelism=2,
        )

    before = barrier_jobs(spark)
    own = validator(LogisticRegression(maxIter=5)).fit(data)
    # Two folds with two sets of parameters, and the best ones on all rows.
    assert barrier_jobs(spark) == before + 5
    stock = validator(sparks.LogisticRegression(maxIter=5)).fit(data)
    np.testing.assert_allclose(own.avgMetrics, stock.avgMetrics, 1e-9)
    assert_same(own.bestModel, stock.bestModel, data)

    own.save(str(tmp_path / "validated"))
    loaded = CrossValidatorModel.load(str(tmp_path / "validated"))
    assert type(loaded.getEstimator()) is LogisticRegression
    assert loaded.avgMetrics == own.avgMetrics


def test_the_package_brings_the_jar_of_the_estimators(spark):
    assert ml.jar_path().endswith("spark-collectives-ml.jar")
    assert ml.jar_path() in spark.conf.get("spark.jars")


def test_a_driver_without_the_estimators_is_an_error_that_says_what_to_do(spark, monkeypatch):
    from spark_collectives.ml import _estimator

    monkeypatch.setattr(_estimator, "_OWN", "org.sparkcollectives.absent.")
    with pytest.raises(RuntimeError, match=r"no class org\.sparkcollectives\.absent\.\S+: begin"):
        LogisticRegression()

"""LightGBM on the ranks of barrier stages, and on DataFrames."""

import json
import os
import signal
import time

import numpy as np
import pytest

import spark_collectives as dist
from lightgbm_ranks import dataset_of, generated, on_threads, results, trees
from spark_collectives.lightgbm import (
    LGBMClassificationModel,
    LGBMClassifier,
    LGBMRanker,
    LGBMRegressor,
    train,
)

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

#: The most seconds until a killed rank is named, on a busy machine.
SOON = 30.0


@pytest.mark.parametrize("bins", ["local", "shared"])
def test_ranks_of_a_stage_give_the_model_of_threads(ranks, bins):
    # Those of threads are, byte for byte, those of sockets: see test_lightgbm.
    def on_rank(rank, size):
        data, params = dataset_of("categorical", rank, size)
        return trees(train(params, data, 3, bin_construction=bins))

    def on_thread(group):
        data, params = dataset_of("categorical", group.rank, group.size)
        return trees(train(params, data, 3, bin_construction=bins, group=group))

    assert ranks(on_rank, 4) == results(on_threads(4, on_thread))


def test_a_killed_worker_is_named_and_the_next_training_works(spark, tmp_path):
    folder = str(tmp_path)

    def fit(kill):
        rank = dist.get_rank()
        data, params = dataset_of("categorical", rank, dist.get_world_size())

        def act(env):
            if kill and env.iteration == 5:
                if rank == 1:
                    with open(f"{folder}/killed", "w") as file:
                        file.write(str(time.time()))
                    os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(0.01)

        try:
            return trees(train(params, data, 20, callbacks=[act]))
        except dist.PeerFailedError as e:
            with open(f"{folder}/{rank}", "w") as file:
                json.dump({"rank": e.rank, "text": str(e), "at": time.time()}, file)
            raise

    with pytest.raises(Exception, match=r"rank 1|worker exited|Python worker"):
        dist.run(fit, 3, True, spark=spark)
    deadline = time.monotonic() + SOON
    while not {"0", "2"} <= set(os.listdir(folder)):
        assert time.monotonic() < deadline, os.listdir(folder)
        time.sleep(0.05)
    killed = float((tmp_path / "killed").read_text())
    for rank in ("0", "2"):
        noticed = json.loads((tmp_path / rank).read_text())
        assert noticed["rank"] == 1, noticed
        assert "rank 1" in noticed["text"]
        assert noticed["at"] - killed < SOON
        print(f"rank {rank} named it after {noticed['at'] - killed:.2f} s")
    assert len(set(dist.run(fit, 3, False, spark=spark))) == 1


def test_a_failed_rank_ends_the_others_and_workers_train_again(spark):
    def fit(fails):
        rank = dist.get_rank()
        data, params = dataset_of("categorical", rank, dist.get_world_size())

        def act(env):
            if fails and rank == 2 and env.iteration == 3:
                raise KeyError("mine")

        return trees(train(params, data, 6, callbacks=[act]))

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            dist.run(fit, 3, True, spark=spark)
        assert len(set(dist.run(fit, 3, False, spark=spark))) == 1


def frame(spark, x, y, **more):
    """Return a DataFrame with a column of arrays, one of labels, and further ones."""
    import pandas

    columns = {"features": list(x.astype(float)), "label": y.astype(float), **more}
    return spark.createDataFrame(pandas.DataFrame(columns))


@pytest.fixture(scope="module")
def wine():
    """Return the features, the labels, and which rows are held out."""
    from sklearn.datasets import load_wine

    x, y = load_wine(return_X_y=True)
    return x, y, np.arange(len(y)) % 3 == 0


@pytest.fixture(scope="module")
def wine_frame(spark, wine):
    x, y, held_out = wine
    made = frame(spark, x, y, held_out=held_out).cache()
    yield made
    made.unpersist()


def test_a_classifier_learns_stops_early_and_is_saved(wine, wine_frame, tmp_path):
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator

    params = {"learning_rate": 0.5, "num_leaves": 4, "min_child_samples": 5, "verbosity": -1}
    estimator = LGBMClassifier(
        validation_indicator_col="held_out",
        num_workers=2,
        n_estimators=40,
        early_stopping_round=2,
        **params,
    )
    estimator.write().overwrite().save(str(tmp_path / "estimator"))
    estimator = LGBMClassifier.load(str(tmp_path / "estimator"))
    model = estimator.fit(wine_frame)
    assert model.classes_ == [0, 1, 2]
    assert model.numClasses == 3
    assert isinstance(model.booster_, lightgbm.Booster)
    history = model.evals_result_["validation"]["multi_logloss"]
    assert model.best_iteration_ == int(np.argmin(history)) + 1 == len(history) - 2
    assert model.booster_.current_iteration() == model.best_iteration_

    predicted = model.transform(wine_frame.where("held_out"))
    accuracy = MulticlassClassificationEvaluator(metricName="accuracy").evaluate(predicted)
    x, y, held_out = wine
    one = lightgbm.LGBMClassifier(n_estimators=model.best_iteration_, n_jobs=1, **params)
    one.fit(x[~held_out], y[~held_out])
    assert accuracy > 0.9
    assert abs(accuracy - one.score(x[held_out], y[held_out])) < 0.05

    model.write().overwrite().save(str(tmp_path / "model"))
    loaded = LGBMClassificationModel.load(str(tmp_path / "model"))
    assert loaded.uid == model.uid
    assert loaded.classes_ == model.classes_
    row = predicted.first()
    again = loaded.transform(wine_frame.where("held_out")).first()
    assert again == row
    assert row.prediction == row.probability.toArray().argmax()
    assert len(row.rawPrediction) == 3
    np.testing.assert_allclose(
        row.probability.toArray(), model.booster_.predict(np.array([row.features]))[0]
    )


def test_a_pipeline_of_columns_with_vectors_weights_and_two_classes(spark, tmp_path):
    import pandas
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.feature import VectorAssembler

    x, y, _ = generated(1500, 8)
    names = [f"c{i}" for i in range(8)]
    rows = spark.createDataFrame(
        pandas.DataFrame(x, columns=names).assign(outcome=y + 1, weight=np.where(y > 0, 2.0, 1.0))
    )
    pipeline = Pipeline(
        stages=[
            VectorAssembler(inputCols=names, outputCol="vector"),
            LGBMClassifier(
                featuresCol="vector",
                labelCol="outcome",
                weightCol="weight",
                probabilityCol="",
                numWorkers=2,
                n_estimators=8,
                num_leaves=7,
                verbosity=-1,
            ),
        ]
    )
    model = pipeline.fit(rows)
    model.write().overwrite().save(str(tmp_path / "pipeline"))
    predicted = PipelineModel.load(str(tmp_path / "pipeline")).transform(rows)
    assert "probability" not in predicted.columns
    assert {row.prediction for row in predicted.select("prediction").distinct().collect()} == {1, 2}
    labelled = predicted.withColumn("label", predicted.outcome - 1)
    assert BinaryClassificationEvaluator().evaluate(labelled) > 0.9


def test_two_classes_may_have_trees_of_their_own_each():
    pytest.importorskip("pandas")
    from spark_collectives.lightgbm import models

    x, y, _ = generated(300, 8)
    params = {"objective": "multiclass", "num_class": 2, "verbosity": -1}
    booster = lightgbm.train(params, lightgbm.Dataset(x, y), 5)

    found = models._class_scores(booster, x, [3.0, 7.0])

    np.testing.assert_allclose(np.stack(found.probability), booster.predict(x))
    np.testing.assert_array_equal(found.prediction == 7.0, booster.predict(x)[:, 1] > 0.5)
    assert (found.prediction == np.where(y > 0, 7.0, 3.0)).mean() > 0.8


def test_a_regression_over_columns_is_close_to_that_of_one_process(spark):
    import pandas

    numbers = np.random.default_rng(8)
    x = numbers.normal(size=(1200, 3))
    kind = numbers.integers(0, 6, 1200)
    y = 3 * x[:, 0] + np.array([5, -5, 2, 0, 9, -9])[kind] + x[:, 1] * x[:, 2]
    x[::7, 2] = np.nan
    table = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(kind=kind, label=y)
    names = ["a", "b", "c", "kind"]
    params = {"n_estimators": 12, "learning_rate": 0.3, "num_leaves": 10, "verbosity": -1}
    estimator = LGBMRegressor(
        features_col=names, categorical_features=["kind"], num_workers=2, **params
    )
    model = estimator.fit(spark.createDataFrame(table))
    assert model.booster_.feature_name() == names
    predicted = model.transform(spark.createDataFrame(table)).toPandas()
    one = lightgbm.LGBMRegressor(n_jobs=1, **params)
    one.fit(table[names], table.label, categorical_feature=["kind"])
    spread = y.std()
    assert np.abs(predicted.prediction - one.predict(table[names])).mean() < 0.05 * spread
    assert np.sqrt(((predicted.prediction - y) ** 2).mean()) < 0.3 * spread

    more = estimator.copy({estimator.n_estimators: 5}).setParams(init_model=model.booster_)
    assert more.fit(spark.createDataFrame(table)).booster_.current_iteration() == 17


def test_a_ranker_orders_the_rows_of_queries(spark):
    numbers = np.random.default_rng(9)
    x = numbers.normal(size=(1000, 4))
    relevance = np.floor(x[:, 0] + 0.5 * x[:, 1] + 1.5).clip(0, 3)
    query = np.repeat([f"q{i:03}" for i in range(50)], 20)
    order = numbers.permutation(1000)
    rows = frame(spark, x[order], relevance[order], query=query[order], held=order % 100 < 20)
    ranker = LGBMRanker(
        group_col="query",
        validation_indicator_col="held",
        num_workers=2,
        n_estimators=8,
        learning_rate=0.3,
        num_leaves=7,
        min_child_samples=5,
        verbosity=-1,
        eval_at=[3],
    )
    model = ranker.fit(rows)
    assert model.evals_result_["validation"]["ndcg@3"][-1] > 0.85
    scored = model.transform(rows).toPandas()
    assert np.corrcoef(scored.prediction, scored.label)[0, 1] > 0.8
    with pytest.raises(ValueError, match="A ranker needs group_col"):
        LGBMRanker(num_workers=2).fit(rows)


def test_a_stage_that_is_tried_again_goes_on_from_the_checkpoint(spark, tmp_path):
    x, y, _ = generated(600, 8)
    folder = str(tmp_path)

    def act(env):
        rank = dist.get_rank()
        if env.iteration == env.begin_iteration:
            with open(f"{folder}/began-{rank}", "a") as file:
                file.write(f"{env.iteration} ")
        if env.iteration == 5 and rank == 1 and not os.path.exists(f"{folder}/failed"):
            open(f"{folder}/failed", "w").close()
            raise KeyError("once")

    model = LGBMClassifier(
        num_workers=2,
        n_estimators=8,
        num_leaves=4,
        verbosity=-1,
        stage_retry=True,
        checkpoint_rounds=2,
        callbacks=[act],
    ).fit(frame(spark, x, y))
    assert model.booster_.current_iteration() == 8
    for rank in range(2):
        assert (tmp_path / f"began-{rank}").read_text() == "0 4 "
    whole = LGBMClassifier(num_workers=2, n_estimators=8, num_leaves=4, verbosity=-1)
    expected = whole.fit(frame(spark, x, y)).booster_.predict(x)
    np.testing.assert_allclose(model.booster_.predict(x), expected, rtol=1e-4, atol=1e-6)


def test_ranks_without_slots_or_rows_are_refused(spark):
    x, y, _ = generated(50, 8)
    conf = spark.sparkContext._jsc.sc().conf()
    conf.set("spark.collectives.preflight.timeout", "0s")
    try:
        with pytest.raises(RuntimeError, match="slots"):
            LGBMClassifier(num_workers=64).fit(frame(spark, x, y))
    finally:
        conf.remove("spark.collectives.preflight.timeout")
    one_is_filled = frame(spark, x, y).selectExpr("*", "1 as one").repartition(2, "one")
    with pytest.raises(ValueError, match=r"rank \d \(.+\) has no rows to train on"):
        LGBMRegressor(repartition=False).fit(one_is_filled)
    with pytest.raises(TypeError, match="Column label is of type double, and the features"):
        LGBMRegressor(features_col="label").fit(frame(spark, x, y))

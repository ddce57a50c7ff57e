"""The rows of a DataFrame on the ranks that train LightGBM: none is lost, changed or misread."""

import datetime
import decimal
import json
import logging
import os
import re
import urllib.request

import numpy as np
import pytest

from lightgbm_ranks import Meeting, ThreadGroup
from spark_collectives.lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

LARGE = 2**60
NAN = float("nan")

#: Ids of queries, in the order in which rows come, and how many rows each query has.
IDS = {
    "integers with nulls": ([None, None, 7, 7], pa.int64(), [2, 2]),
    "large integers with nulls": ([None, LARGE + 1, LARGE + 2], pa.int64(), [1, 1, 1]),
    "large integers": ([LARGE + 1, LARGE + 1, LARGE + 2], pa.int64(), [2, 1]),
    "nulls alone": ([None, None, None], pa.int32(), [3]),
    "strings": ([None, "a", "a", "b"], pa.string(), [1, 2, 1]),
    "no ASCII": (["né", "né", "ねこ"], pa.string(), [2, 1]),
    "empty strings": (["", "", None], pa.string(), [2, 1]),
    "bytes": ([b"a", b"a", b"\xff", None], pa.binary(), [2, 1, 1]),
    "booleans": ([None, False, True, True], pa.bool_(), [1, 1, 2]),
    "doubles": ([NAN, NAN, None, 0.5], pa.float64(), [2, 1, 1]),
    "floats": ([NAN, NAN, None, 0.5], pa.float32(), [2, 1, 1]),
    "decimals": (
        [decimal.Decimal(f"{LARGE}.{i}") for i in (1, 1, 2)],
        pa.decimal128(38, 2),
        [2, 1],
    ),
    "dates": ([datetime.date(2026, 1, day) for day in (1, 1, 2)], pa.date32(), [2, 1]),
    "timestamps": (
        [datetime.datetime(2026, 1, 1, 0, 0, 0, each) for each in (1, 1, 2)],
        pa.timestamp("us", tz="UTC"),
        [2, 1],
    ),
}


def batches(ids, type_, size):
    """Return the batches in which Spark gives rows with these ids to a rank."""
    table = pa.table(
        {
            "features": pa.array([[0.0]] * len(ids), pa.list_(pa.float64())),
            "label": pa.array([0.0] * len(ids)),
            "group": pa.array(ids, type_),
        }
    )
    return table.to_batches(max_chunksize=size)


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("kind", IDS)
def test_a_query_is_what_has_one_id(kind, size):
    from spark_collectives.lightgbm import _rows

    ids, type_, sizes = IDS[kind]
    rows = _rows.read(batches(ids, type_, size))
    assert rows.queries().tolist() == sizes


def test_queries_that_come_in_parts_are_refused():
    from spark_collectives.lightgbm import _rows

    with pytest.raises(ValueError, match="The rows of a query do not follow each other"):
        _rows.read(batches([1, 2, 1], pa.int64(), 2)).queries()


def test_batches_without_rows_change_nothing():
    from spark_collectives.lightgbm import _rows

    some = batches([1, 1], pa.int64(), 2)
    empty = [some[0].slice(0, 0)]
    rows = _rows.read([*empty, *some, *empty])
    assert rows.count == 2
    assert rows.columns["features"].shape == (2, 1)
    assert _rows.read(empty).count == 0


#: The types of a column of queries, and ids that are three queries for SQL.
SQL_IDS = {
    "bigint": ["null", str(LARGE + 1), str(LARGE + 2)],
    "int": ["null", "1", "2"],
    "string": ["null", "'né'", "'2'"],
    "double": ["null", "double('NaN')", "0.0"],
    "decimal(20,1)": ["null", f"{LARGE}.1", f"{LARGE}.2"],
    "date": ["null", "date'2026-01-01'", "date'2026-01-02'"],
    "timestamp": ["null", "timestamp'2026-01-01 00:00:00.1'", "timestamp'2026-01-01 00:00:00.2'"],
    "timestamp_ntz": ["null", "timestamp_ntz'2026-01-01 0:00:00'", "timestamp_ntz'2026-01-02'"],
    "boolean": ["null", "true", "false"],
    "binary": ["null", "X'00'", "X'FF'"],
}


def ranked(spark, type_, ids, rows_of_a_query=8):
    """Return rows of queries with these ids, in SQL, and a seen column of their sizes."""
    each = ", ".join(f"cast({one} as {type_})" for one in ids)
    return spark.range(len(ids) * rows_of_a_query).selectExpr(
        f"element_at(array({each}), cast(id % {len(ids)} + 1 as int)) as query",
        "array(double(hash(id) % 100), double(id % 5)) as features",
        "double(abs(hash(id)) % 3) as label",
    )


def sizes_of(rows, ranks):
    """Return the sizes of the queries that the ranks of a ranker get, sorted."""
    ranker = LGBMRanker(group_col="query")
    spread = ranker._spread(rows.select(*ranker._expressions(rows)), ranks)

    def sizes(batches):
        from spark_collectives.lightgbm import _rows

        found = _rows.read(batches)
        yield pa.RecordBatch.from_pydict({"size": pa.array(found.queries(), pa.int64())})

    return sorted(row.size for row in spread.mapInArrow(sizes, "size long").collect())


@pytest.mark.parametrize("type_", SQL_IDS)
def test_a_query_is_what_sql_takes_for_one(spark, type_):
    rows = ranked(spark, type_, SQL_IDS[type_])
    assert sizes_of(rows, 2) == [8, 8, 8]


def test_zero_has_one_sign(spark):
    rows = ranked(spark, "double", ["0.0", "-0.0", "1.0"])
    assert sizes_of(rows, 2) == [8, 16]


@pytest.mark.parametrize("queries", [1, 2, 3])
def test_fewer_queries_than_ranks_take_fewer_ranks(spark, caplog, queries):
    rows = ranked(spark, "int", [str(each) for each in range(queries)], 40)
    ranker = LGBMRanker(
        group_col="query", num_workers=4, n_estimators=2, min_child_samples=1, verbosity=-1
    )
    with caplog.at_level(logging.WARNING, "spark_collectives.lightgbm"):
        model = ranker.fit(rows)
    assert model.booster_.current_iteration() == 2
    assert f"{queries} of 4 ranks have trained: there are no more queries" in caplog.text


@pytest.mark.parametrize("training", [2, 4, 9])
@pytest.mark.parametrize("ids", ["id", "-id"])
def test_queries_that_are_held_out_may_have_any_ids(spark, training, ids):
    rows = spark.range(20 * 12).selectExpr(
        f"{ids} div 12 as query",
        f"id div 12 >= {training} as held",
        "array(double(hash(id) % 100), double(id % 5)) as features",
        "double(abs(hash(id)) % 3) as label",
    )
    ranker = LGBMRanker(
        group_col="query",
        validation_indicator_col="held",
        num_workers=4,
        n_estimators=2,
        min_child_samples=2,
        verbosity=-1,
    )
    model = ranker.fit(rows)
    assert len(model.evals_result_["validation"]["ndcg@5"]) == 2
    # The held-out rows of all ranks are evaluated, wherever they were.
    whole = ranker.copy({ranker.numWorkers: 1}).fit(rows)
    for name, values in whole.evals_result_["validation"].items():
        np.testing.assert_allclose(model.evals_result_["validation"][name], values, atol=0.2)


def test_a_checkpoint_of_fewer_ranks_is_restored(spark, tmp_path):
    rows = ranked(spark, "int", ["1", "2"], 40)
    folder = str(tmp_path)

    def fail_once(env):
        if env.iteration == 3 and not os.path.exists(f"{folder}/failed"):
            open(f"{folder}/failed", "w").close()
            raise KeyError("once")

    ranker = LGBMRanker(
        group_col="query",
        num_workers=3,
        n_estimators=6,
        verbosity=-1,
        stage_retry=True,
        checkpoint_rounds=2,
        callbacks=[fail_once],
    )
    assert ranker.fit(rows).booster_.current_iteration() == 6


@pytest.mark.parametrize(
    ("rows", "ranks"), [([2, 0, 0, 0], 4), ([9, 0, 1], 3), ([1, 1], 2), ([0, 3, 0, 0], 2)]
)
def test_queries_are_dealt_to_every_rank_and_evenly(rows, ranks):
    from spark_collectives.lightgbm import _spreading

    numbers = np.random.default_rng(4)
    sizes = [numbers.integers(1, 50, count) for count in rows]
    targets = _spreading.dealt(sizes, ranks)
    assert [len(each) for each in targets] == rows
    every, flat = np.concatenate(sizes), np.concatenate(targets)
    loads = [every[flat == rank].sum() for rank in range(ranks)]
    assert min((flat == rank).sum() for rank in range(ranks)) == sum(rows) // ranks
    assert max(loads) - min(loads) <= every.max()


EMPTY = {
    "without rows": lambda rows: rows.limit(0),
    "filtered at run time": lambda rows: rows.where("hash(label) = 12345"),
    "without partitions": lambda rows: rows.sparkSession.createDataFrame([], rows.schema),
    "filtered after a shuffle": lambda rows: rows.repartition(3).where("hash(label) = 12345"),
    "all held out": lambda rows: rows.selectExpr("features", "label", "query", "true as held"),
}


@pytest.mark.parametrize("repartition", [True, False])
@pytest.mark.parametrize("kind", EMPTY)
def test_rows_that_are_none_are_refused(spark, kind, repartition):
    sorted_ = ranked(spark, "int", ["1", "2"]).repartition(2, "query").sortWithinPartitions("query")
    rows = sorted_.selectExpr("*", "false as held")
    # Each kind with one of the estimators: they differ in how rows are spread.
    estimator = [LGBMClassifier, LGBMRanker, LGBMRegressor][list(EMPTY).index(kind) % 3]
    more = {"group_col": "query"} if estimator is LGBMRanker else {}
    fitting = estimator(
        num_workers=2, validation_indicator_col="held", repartition=repartition, **more
    )
    with pytest.raises(ValueError, match="no rows to train on"):
        fitting.fit(EMPTY[kind](rows))


def test_few_rows_are_spread_over_all_ranks_and_fewer_take_fewer(spark, caplog):
    # Spark begins each partition's round anywhere, so that a rank may get none of few rows.
    for count, ranks in ((4, 4), (5, 4), (2, 4)):
        rows = spark.range(0, 40, 1, 10).selectExpr(
            "array(double(id)) as features", "double(id % 2) as label", f"id >= {count} as held"
        )
        estimator = LGBMRegressor(
            num_workers=ranks,
            validation_indicator_col="held",
            n_estimators=1,
            min_child_samples=1,
            verbosity=-1,
        )
        caplog.clear()
        with caplog.at_level(logging.WARNING, "spark_collectives.lightgbm"):
            model = estimator.fit(rows)
        assert len(model.evals_result_["validation"]["l2"]) == 1
        assert ("have trained" in caplog.text) == (count < ranks)


def test_rows_may_come_from_what_no_barrier_stage_can_contain(spark):
    rows = ranked(spark, "int", ["1", "2"]).repartition(2)
    for each in (rows.coalesce(1), rows.union(rows), rows.limit(5)):
        LGBMRegressor(n_estimators=1, verbosity=-1).fit(each)


REFUSED = {
    "features_col": {
        "text": "string",
        "texts": "array<string>",
        "day": "date",
    },
    "label_col": {"text": "string", "day": "date", "features": "array<double>"},
    "weight_col": {"text": "string", "moment": "timestamp"},
    "init_score_col": {"text": "string", "texts": "array<string>"},
    "validation_indicator_col": {"text": "string", "label": "double"},
}


@pytest.mark.parametrize(
    ("argument", "column"), [(each, name) for each in REFUSED for name in REFUSED[each]]
)
def test_a_column_of_another_type_is_refused_by_name(spark, argument, column):
    rows = spark.range(4).selectExpr(
        "array(double(id)) as features",
        "double(id % 2) as label",
        "'7' as text",
        "array('7') as texts",
        "date'2026-01-01' as day",
        "timestamp'2026-01-01' as moment",
    )
    for name in (column, [column]) if argument == "features_col" else (column,):
        with pytest.raises(TypeError, match=f"Column {column} is of type"):
            LGBMRegressor(**{argument: name}).fit(rows)


def test_a_nested_query_is_refused(spark):
    rows = ranked(spark, "int", ["1", "2"]).selectExpr(
        "struct(query) as query", "features", "label"
    )
    with pytest.raises(TypeError, match="Column query is of type struct"):
        LGBMRanker(group_col="query").fit(rows)


@pytest.mark.parametrize(
    "argument",
    ["features_col", "label_col", "weight_col", "init_score_col", "validation_indicator_col"],
)
def test_a_column_that_does_not_exist_is_named_with_the_nearest(spark, argument):
    from pyspark.errors import AnalysisException

    rows = spark.createDataFrame([(0.0, [1.0])], "label double, features array<double>")
    for name in ("labell", ["labell"]) if argument == "features_col" else ("labell",):
        with pytest.raises(AnalysisException, match=r"labell(?s:.*)label"):
            LGBMRegressor(**{argument: name}).fit(rows)


BAD = {
    "a null label": ({"label": None}, r"1 values of label are NaN or infinite"),
    "a NaN label": ({"label": NAN}, r"1 values of label are NaN or infinite"),
    "a fraction": ({"label": 1.5}, r"must be whole numbers, and 1\.5 is among them"),
    "a large label": ({"label": float(2**53)}, r"The label 9007199254740992 is too large"),
    "a negative weight": ({"weight": -1.0}, r"1 weights are negative"),
    "a null weight": ({"weight": None}, r"1 values of weight are NaN or infinite"),
    "a NaN weight": ({"weight": NAN}, r"1 values of weight are NaN or infinite"),
    "a null initial score": ({"score": None}, r"1 values of init_score are NaN or infinite"),
    "fewer features": ({"features": [1.0]}, r"features must be as many in each row"),
    "null features": ({"features": None}, r"features of 1 rows is null"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_row_is_a_value_error_and_no_task_fails(spark, kind):
    change, text = BAD[kind]
    rows = [([float(i), 1.0], float(i % 2), 1.0, 0.0) for i in range(40)]
    names = ["features", "label", "weight", "score"]
    rows[20] = tuple({**dict(zip(names, rows[20])), **change}.values())
    frame = spark.createDataFrame(
        rows, "features array<double>, label double, weight double, score double"
    )
    before = failed_jobs(spark)
    estimator = LGBMClassifier(
        num_workers=2, weight_col="weight", init_score_col="score", n_estimators=2
    )
    with pytest.raises(ValueError, match=text):
        estimator.fit(frame)
    assert failed_jobs(spark) == before


def failed_jobs(spark):
    """Return how many jobs have failed: a Python worker whose task fails ends."""
    context = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty()
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/jobs?status=failed"
    with urllib.request.urlopen(url, timeout=60) as answer:
        return len(json.load(answer))


def test_one_class_is_refused(spark):
    rows = spark.range(8).selectExpr("array(double(id)) as features", "1 as label")
    with pytest.raises(ValueError, match="All labels are 1, and a classifier needs two classes"):
        LGBMClassifier(num_workers=2).fit(rows)


def with_leaf(value):
    """Return the text of a model, a leaf of which has this value."""
    data = lightgbm.Dataset(np.arange(200.0).reshape(100, 2), np.arange(100.0))
    text = lightgbm.train({"verbosity": -1}, data, 1).model_to_string()
    leaves = re.search(r"leaf_value=(\S+) (\S+)", text)
    return text.replace(leaves[0], f"leaf_value={leaves[1]} {value}")


#: Parameters, weights and a first model with which LightGBM gives a leaf a value that is no number.
NO_NUMBERS = {
    "weights of 0": ({"objective": "poisson"}, 0.0, None),
    "a large learning rate": ({"learning_rate": 1.7e308}, 1.0, None),
    "a model with NaN": ({}, 1.0, "nan"),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_a_model_with_a_leaf_that_is_no_number_is_refused(monkeypatch, kind):
    from spark_collectives import _groups
    from spark_collectives.lightgbm._fit_task import FitTask

    params, weight, leaf = NO_NUMBERS[kind]
    table = pa.table(
        {
            "features": pa.array([[float(i)] * 2 for i in range(100)]),
            "label": np.arange(100.0) * 5,
            "weight": np.full(100, weight),
        }
    )
    task = FitTask(
        params={"verbosity": -1, **params},
        objective="regression",
        rounds=2,
        classifies=False,
        class_weight=None,
        feature_names=[],
        categorical=[],
        spreads=True,
        bin_construction="shared",
        checkpoint_rounds=0,
        init_model=leaf and with_leaf(leaf),
        callbacks=[],
        feval=None,
    )
    group = ThreadGroup(0, Meeting(1))
    monkeypatch.setattr(_groups, "world", lambda: group)
    refusal = task.on_rows(table.to_batches()).refusal
    assert isinstance(refusal, ValueError)
    assert re.match(r"A leaf of the model has the value (-?inf|nan): are all", str(refusal))


def test_names_of_columns_need_not_be_ascii(spark):
    rows = spark.range(200).selectExpr(
        "double(hash(id) % 100) as `größe`", "id % 7 as `数`", "double(id % 2) as `ярлык`"
    )
    model = LGBMClassifier(
        features_col=["größe", "数"], label_col="ярлык", num_workers=2, n_estimators=2, verbosity=-1
    ).fit(rows)
    assert model.booster_.feature_name() == ["größe", "数"]
    assert model.transform(rows).count() == 200

"""Ranks that are partitions of a DataFrame, for sessions without RDDs."""

import numpy as np
import pytest

import spark_collectives as dist

pytest.importorskip("pyarrow")


def test_partitions_of_arrow_batches_are_ranks(spark):
    def total(batches):
        import pyarrow as pa

        dist.init_process_group(timeout=60)
        own = np.zeros(1, np.int64)
        for batch in batches:
            own += int(np.asarray(batch.column("id")).sum())
        dist.all_reduce(own)
        yield pa.RecordBatch.from_pydict({"rank": [dist.get_rank()], "total": own})

    rows = spark.range(0, 1000, 1, 4).mapInArrow(total, "rank long, total long", barrier=True)
    assert sorted(map(tuple, rows.collect())) == [(rank, 499500) for rank in range(4)]


def test_partitions_of_pandas_frames_are_ranks(spark):
    pandas = pytest.importorskip("pandas")

    def total(frames):
        dist.init_process_group(timeout=60)
        own = np.array([sum(int(frame["id"].sum()) for frame in frames)])
        dist.all_reduce(own)
        yield pandas.DataFrame({"rank": [dist.get_rank()], "total": own})

    rows = spark.range(0, 1000, 1, 4).mapInPandas(total, "rank long, total long", barrier=True)
    assert sorted(map(tuple, rows.collect())) == [(rank, 499500) for rank in range(4)]


LOOKS = {
    "show": lambda rows: rows.show(),
    "limit": lambda rows: rows.limit(3).collect(),
    "first": lambda rows: rows.first(),
    "take": lambda rows: rows.take(1),
    "head": lambda rows: rows.head(2),
    "tail": lambda rows: rows.tail(1),
    "toLocalIterator": lambda rows: list(rows.toLocalIterator()),
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_part_of_the_ranks_rows_needs_a_shuffle_as_the_page_says(spark, look, capsys):
    rows = spark.range(0, 8, 1, 2).mapInArrow(lambda batches: batches, "id long", barrier=True)
    with pytest.raises(Exception, match="SPARK-24820"):
        LOOKS[look](rows)
    LOOKS[look](rows.repartition(2))
    assert len(rows.collect()) == 8


def test_rows_that_cannot_be_those_of_ranks_are_refused_with_advice(spark):
    def add(state, rows, iteration):
        return np.ones(1)

    def update(state, total, iteration):
        return total

    frame = spark.range(0, 8, 1, 4)
    rdd = spark.sparkContext.parallelize(range(8), 4)
    for rows in (frame.coalesce(2), rdd.coalesce(2), rdd.map(abs).coalesce(2).map(abs)):
        with pytest.raises(RuntimeError, match=r"2 partitions, but .* reads an RDD with 4") as e:
            dist.iterate(rows, np.zeros(1), add, update, 1)
        assert type(e.value) is RuntimeError
        assert "repartition(2)" in str(e.value)
        assert dist.iterate(rows.repartition(2), np.zeros(1), add, update, 1).iterations == 1

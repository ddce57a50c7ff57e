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

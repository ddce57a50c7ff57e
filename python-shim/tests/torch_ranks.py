"""Functions that run as ranks of torch.distributed, on workers that Spark reuses."""

import re

import pytest
import torch

#: Whether it is the torch of the builds. The gloo of older versions lacks some of what is compared,
#: and deadlocks in some.
IS_NEWEST = tuple(map(int, re.findall(r"\d+", torch.__version__)[:2])) >= (2, 15)

WITHOUT_GLOO = "what gloo does is compared with the newest torch only"


def ranks_of_torch(spark, fn, size, backend="spark", arguments=()):
    """Run fn(rank, size, *arguments) on each rank, and return the results by rank."""
    if backend == "gloo" and not IS_NEWEST:
        pytest.skip(WITHOUT_GLOO)

    def task(_rows):
        import torch
        import torch.distributed as dist

        import spark_collectives.torch  # noqa: F401

        torch.set_num_threads(1)
        dist.init_process_group(backend)
        rank = dist.get_rank()
        try:
            yield rank, fn(rank, size, *arguments)
        finally:
            dist.destroy_process_group()

    rows = spark.sparkContext.parallelize(range(size), size).barrier().mapPartitions(task).collect()
    return [value for _, value in sorted(rows, key=lambda row: row[0])]

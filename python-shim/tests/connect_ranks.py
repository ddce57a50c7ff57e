"""A client of Spark Connect that runs ranks. Its argument is the server's address.

It prints what they returned as JSON, then runs ranks that never end until it is interrupted.
"""

import json
import sys
import time

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import spark_collectives as dist


def add_up(factor):
    numbers = np.arange(3.0) + dist.get_rank()
    dist.all_reduce(numbers)
    return (factor * numbers).tolist()


def total(batches):
    dist.init_process_group()
    own = np.array([sum(sum(batch["id"].to_pylist()) for batch in batches)])
    dist.all_reduce(own)
    yield pa.RecordBatch.from_pydict({"total": own})


def fail():
    if dist.get_rank() == 1:
        raise LookupError("no such shard")
    dist.barrier()


def wait_for_ever():
    while True:
        dist.barrier()
        time.sleep(0.01)


def refusal(call, error):
    try:
        call()
    except error as e:
        return str(e)
    return None


def main(address):
    spark = SparkSession.builder.remote(address).getOrCreate()
    rows = spark.range(0, 8, 1, 2).mapInArrow(total, "total long", barrier=True).collect()
    found = {
        "sums": dist.run(add_up, 2, 10),
        "totals": [row.total for row in rows],
        "failure": refusal(lambda: dist.run(fail, 2), dist.RankFailedError),
        "stream": refusal(lambda: dist.run(add_up, 2, 1, stream=True), ValueError),
    }
    print(json.dumps(found), flush=True)
    try:
        dist.run(wait_for_ever, 2)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

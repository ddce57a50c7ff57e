"""Ranks of the Python package in pods, which write what they see."""

import os

import numpy as np
from pyspark.sql import SparkSession

import spark_collectives as dist

#: Four bytes each: more in all ranks than the 64 MiB that /dev/shm of a container has.
ELEMENTS = 10 << 20


def exchange(_rows):
    dist.init_process_group()
    array = np.full(ELEMENTS, dist.get_rank() + 1, dtype=np.float32)
    dist.all_reduce(array)
    pods = [None] * dist.get_world_size()
    dist.all_gather_object(pods, os.environ["SPARK_EXECUTOR_POD_NAME"])
    shared = os.statvfs("/dev/shm")
    mebibytes = shared.f_blocks * shared.f_frsize >> 20
    yield f"RESULT\t{dist.get_rank()}\t{array[0]} {array[-1]}\t{' '.join(pods)}\t{mebibytes}"


def main():
    session = dist.configure(SparkSession.builder).getOrCreate()
    rows = session.sparkContext.parallelize(range(4), 4)
    for row in rows.barrier().mapPartitions(exchange).collect():
        print(row)
    session.stop()


if __name__ == "__main__":
    main()

"""Ranks of the Python package on YARN; the argument is the folder for what they see."""

import os
import sys

import numpy as np
from pyspark.sql import SparkSession

import spark_collectives as dist


def exchange(_rows):
    dist.init_process_group()
    total = np.array([dist.get_rank() + 1.0])
    dist.all_reduce(total)
    containers = [None] * dist.get_world_size()
    dist.all_gather_object(containers, os.environ["CONTAINER_ID"])
    yield f"{dist.get_rank()}\t{total[0]}\t{' '.join(containers)}"


def main(folder):
    session = dist.configure(SparkSession.builder).getOrCreate()
    rows = session.sparkContext.parallelize(range(4), 4)
    results = rows.barrier().mapPartitions(exchange).collect()
    with open(os.path.join(folder, "results"), "w") as file:
        file.write("\n".join(results))
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1])

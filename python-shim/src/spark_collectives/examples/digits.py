"""Learns to tell handwritten digits apart, in a barrier stage: a logistic regression in numpy.

    python -m spark_collectives.examples.digits --master "local[4]" --ranks 4

Each rank computes the gradient of its own rows; the sum over all ranks is that of all rows. The
images come with the package; ``digits.md`` beside them says where they are from.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from pathlib import Path
from typing import Any, Iterator, List, Optional, Sequence

import numpy as np

import spark_collectives as dist

DATA = Path(__file__).with_name("digits.csv")

#: One image in so many is not learned from.
_HELD_OUT = 5


def fit(rows: Iterator[Sequence[int]], steps: int, rate: float) -> Iterator[float]:
    """Do what each rank does with its rows; rank 0 yields the accuracy on images held out.

    :param rows: each the number of the image, its 64 pixels and its digit
    """
    dist.init_process_group()
    own = np.array([list(row) for row in rows], np.int64).reshape(-1, 66)
    # A column of ones, whose weights are the intercepts.
    points = np.hstack([own[:, 1:-1] / 16, np.ones((len(own), 1))])
    digits = own[:, -1]
    held_out = own[:, 0] % _HELD_OUT == _HELD_OUT - 1
    learned, wanted = points[~held_out], np.eye(10)[digits[~held_out]]
    count = np.array([float(len(learned))])
    dist.all_reduce(count)

    weights = np.zeros((points.shape[1], 10))
    velocity = np.zeros_like(weights)
    for _ in range(steps):
        scores = learned @ weights
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = scores / scores.sum(axis=1, keepdims=True)
        gradient = learned.T @ (shares - wanted) / count
        dist.all_reduce(gradient)
        velocity = 0.9 * velocity - rate * gradient
        weights += velocity

    right = (points[held_out] @ weights).argmax(axis=1) == digits[held_out]
    counts = np.array([right.sum(), len(right)], np.int64)
    dist.all_reduce(counts)
    if dist.get_rank() == 0:
        yield float(counts[0] / counts[1])


def images() -> List[List[int]]:
    """Return the rows of the data: the number of each image, its pixels and its digit."""
    with DATA.open(newline="") as file:
        return [[number, *map(int, row)] for number, row in enumerate(csv.reader(file))]


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Run the program."""
    from pyspark.sql import SparkSession

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--master", help="where Spark runs (as spark-submit says, else local[4])")
    parser.add_argument("--ranks", type=int, default=4, help="how many tasks (%(default)s)")
    parser.add_argument("--steps", type=int, default=200, help="of gradient descent (%(default)s)")
    parser.add_argument("--rate", type=float, default=0.5, help="the learning rate (%(default)s)")
    given = parser.parse_args(arguments)
    # The tasks get the Python of this program, also if its virtual environment is not activated.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder
    # spark-submit, which has started the JVM then, has given both.
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        builder = builder.appName("Spark Collectives example").master("local[4]")
    if given.master:
        builder = builder.master(given.master)
    spark = dist.configure(builder).getOrCreate()
    steps, rate = given.steps, given.rate
    rows = spark.sparkContext.parallelize(images(), given.ranks)
    (accuracy,) = rows.barrier().mapPartitions(lambda part: fit(part, steps, rate)).collect()
    print(f"accuracy on images held out: {accuracy:.1%}")
    spark.stop()


if __name__ == "__main__":
    main()

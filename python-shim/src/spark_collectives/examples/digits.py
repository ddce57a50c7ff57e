"""Learns to tell handwritten digits apart, in a barrier stage: a logistic regression in numpy.

    python -m spark_collectives.examples.digits --master "local[4]" --ranks 4

Each rank computes the gradient of its own rows; the sum over all ranks is that of all rows. The
images come with the package; ``digits.md`` beside them says where they are from.

With ``--elastic`` each task trains a replica that goes on when other executors are lost, and with
``--kill-every 10`` one executor is killed every ten seconds::

    python -m spark_collectives.examples.digits --master "local-cluster[4,1,1024]"
        --elastic --steps 20000 --kill-every 10
"""

from __future__ import annotations

import argparse
import csv
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence

import numpy as np

import spark_collectives as dist
from spark_collectives import elastic

DATA = Path(__file__).with_name("digits.csv")

#: One image in so many is not learned from.
_HELD_OUT = 5


def fit(rows: Iterator[Sequence[int]], steps: int, rate: float) -> Iterator[float]:
    """Do what each rank does with its rows; rank 0 yields the accuracy on images held out.

    :param rows: each the number of the image, its 64 pixels and its digit
    """
    dist.init_process_group()
    own = Images.of(rows)
    count = np.array([float(len(own.learned))])
    dist.all_reduce(count)

    weights = np.zeros((own.learned.shape[1], 10))
    velocity = np.zeros_like(weights)
    for _ in range(steps):
        gradient = own.gradient(weights) / count
        dist.all_reduce(gradient)
        velocity = 0.9 * velocity - rate * gradient
        weights += velocity

    counts = own.right(weights)
    dist.all_reduce(counts)
    if dist.get_rank() == 0:
        yield float(counts[0] / counts[1])


def fit_replica(
    manager: elastic.Manager, rows: Iterator[Sequence[int]], steps: int, rate: float, kill: float
) -> Any:
    """Do what each replica does with its rows; return the weights, the same on all replicas.

    :param kill: the seconds after which an executor is killed, the one with the last replica that
        takes part, if as many have taken part all the time; 0 for none
    """
    own = Images.of(rows)
    count = np.array([float(len(own.learned))])
    zeros = np.zeros((own.learned.shape[1], 10))
    state = {"weights": zeros, "velocity": zeros}
    manager.register_state_dict_fn("state", state.update, lambda: state)
    participants, since = 0, time.monotonic()
    while manager.start_quorum() < steps:
        if manager.num_participants() != participants:
            participants, since = manager.num_participants(), time.monotonic()
        is_last = manager.participating_rank() == participants - 1 > 0
        if kill and is_last and time.monotonic() - since > kill:
            _kill_executor()
        # Of those that take part in this step.
        gradient, total = own.gradient(state["weights"]), count.copy()
        for each in (gradient, total):
            manager.allreduce(each, reduce_op=dist.ReduceOp.SUM)
        if manager.should_commit():
            state["velocity"] = 0.9 * state["velocity"] - rate * gradient / total
            state["weights"] = state["weights"] + state["velocity"]
    return state["weights"]


def _kill_executor() -> None:
    """Kill the JVM of this process's executor, which is the parent of its daemon."""
    with open(f"/proc/{os.getppid()}/stat", encoding="ascii") as stat:
        os.kill(int(stat.read().rpartition(")")[2].split()[1]), signal.SIGKILL)


class Images(NamedTuple):
    """Images with a column of ones, whose weights are the intercepts."""

    learned: Any
    wanted: Any
    held_out: Any
    digits: Any

    @staticmethod
    def of(rows: Iterator[Sequence[int]]) -> Images:
        """Return the images in rows, and one in so many apart."""
        own = np.array([list(row) for row in rows], np.int64).reshape(-1, 66)
        points = np.hstack([own[:, 1:-1] / 16, np.ones((len(own), 1))])
        held_out = own[:, 0] % _HELD_OUT == _HELD_OUT - 1
        wanted = np.eye(10)[own[~held_out, -1]]
        return Images(points[~held_out], wanted, points[held_out], own[held_out, -1])

    def gradient(self, weights: Any) -> Any:
        """Return the sum of the gradients of the images that are learned from."""
        scores = self.learned @ weights
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = scores / scores.sum(axis=1, keepdims=True)
        return self.learned.T @ (shares - self.wanted)

    def right(self, weights: Any) -> Any:
        """Return how many of the images held out are told apart, and how many there are."""
        right = (self.held_out @ weights).argmax(axis=1) == self.digits
        return np.array([right.sum(), len(right)], np.int64)


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
    parser.add_argument("--elastic", action="store_true", help="train replicas")
    parser.add_argument(
        "--kill-every", type=float, default=0, metavar="SECONDS", help="kill an executor each time"
    )
    given = parser.parse_args(arguments)
    # The tasks get the Python of this program, also if its virtual environment is not activated.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder
    # spark-submit, which has started the JVM then, has given both.
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        builder = builder.appName("Spark Collectives example").master("local[4]")
    if given.master:
        builder = builder.master(given.master)
    if given.elastic:
        # Each lost executor is a failure of its task, and one for the master.
        builder = builder.config("spark.task.maxFailures", "1000")
        builder = builder.config("spark.deploy.maxExecutorRetries", "-1")
    spark = dist.configure(builder).getOrCreate()
    steps, rate, kill = given.steps, given.rate, given.kill_every
    if kill and (not given.elastic or spark.sparkContext.master.startswith("local[")):
        parser.error("--kill-every needs --elastic, and executors: a master such as local-cluster")
    rows = spark.sparkContext.parallelize(images(), given.ranks)
    if given.elastic:
        weights = elastic.run(
            rows, lambda manager, part: fit_replica(manager, part, steps, rate, kill)
        )
        right, count = Images.of(iter(images())).right(weights)
        accuracy = right / count
    else:
        (accuracy,) = rows.barrier().mapPartitions(lambda part: fit(part, steps, rate)).collect()
    print(f"accuracy on images held out: {accuracy:.1%}")
    spark.stop()


if __name__ == "__main__":
    main()

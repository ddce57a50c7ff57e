"""The Spark application that runs the tests."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import RANKS, fault_tolerance, folders, rank
from .outcome import FAILED, TIMED_OUT, Outcome, of_all, one_line

TESTS = Path(__file__).resolve().parent.parent

#: Seconds that Spark has beyond a test's own limit, to begin the tasks and to end them.
_FOR_SPARK = 30


@contextlib.contextmanager
def application() -> Iterator[Any]:
    """Start a session with a slot for each rank, whose tasks have each a new process."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    import spark_collectives as dist

    builder = (
        SparkSession.builder.master(f"local-cluster[2,{RANKS // 2},1024]")
        .appName("PyTorch's tests")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.PYTHONPATH", str(TESTS))
        .config("spark.python.daemon.module", "pytorch_suite.daemon")
        .config("spark.python.worker.reuse", "false")
        # A failure is an outcome: nothing is tried again.
        .config("spark.task.maxFailures", "1")
        .config("spark.stage.maxConsecutiveAttempts", "1")
        .config("spark.task.reaper.enabled", "true")
    )
    session = dist.configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        _await_executors(session, 2)
        yield session
    finally:
        session.stop()


def _await_executors(session: Any, count: int, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    context = session.sparkContext._jsc.sc()
    while context.getExecutorMemoryStatus().size() < count + 1:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{count} executors did not register in {seconds} s")
        time.sleep(0.1)


def run(session: Any, name: str, backend: str, limit: float, file: Path | None = None) -> Outcome:
    """Run a test on a backend, for some seconds at most, and return how it has ended.

    :param file: that of the tests of ``reconfigure``, if it is one of them
    """
    context = session.sparkContext
    ranks = RANKS if file is None else fault_tolerance.RANKS
    with folders.folder_of_test() as folder:

        def task(rows: Iterator[int]) -> Iterator[int]:
            for each in rows:
                rank.run(name, backend, each, folder, limit, file)
                yield each

        group = f"{name} on {backend}"
        context.setJobGroup(group, group, interruptOnCancel=True)
        ending = threading.Timer(limit + _FOR_SPARK, context.cancelJobGroup, [group])
        ending.start()
        try:
            context.parallelize(range(ranks), ranks).barrier().mapPartitions(task).collect()
        except Exception as e:
            return _of_failed_job(folder, ranks, e, not ending.is_alive())
        finally:
            ending.cancel()
        return of_all(folders.read(folder, ranks), ranks)


def _of_failed_job(folder: Path, ranks: int, error: Exception, cancelled: bool) -> Outcome:
    outcomes = folders.read(folder, ranks)
    if any(each.kind in (FAILED, TIMED_OUT) for each in outcomes.values()):
        return of_all(outcomes, ranks)
    if cancelled:
        return Outcome(TIMED_OUT, "Spark ended the stage")
    return Outcome(FAILED, one_line(str(error)))

"""A loop over the rows of an RDD or a DataFrame that runs as one barrier stage."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional

from ._display import Display
from ._iteration_loop import Functions, IterationError, IterationLoop, IterationResult
from ._job import is_remote, require_jar
from .runner import run_on_rows

__all__ = ["IterationError", "IterationResult", "iterate"]


def iterate(
    rows: Any,
    initial: Any,
    contribution: Callable[[Any, Any, int], Any],
    update: Callable[[Any, Any, int], Any],
    max_iterations: int,
    *,
    load: Optional[Callable[[Iterator[Any]], Any]] = None,
    stop: Optional[Callable[[Any, Any, int], Any]] = None,
    loss: Optional[Callable[[Any, Any, int], Any]] = None,
    checkpoint_interval: Optional[int] = None,
    stage_retry: bool = False,
    stream: Optional[bool] = None,
    progress: Optional[bool] = None,
) -> IterationResult:
    """Run an iterative algorithm over ``rows`` as one barrier stage.

    Each partition of ``rows`` is a rank, which loads its rows once. In each iteration, counted from
    1, each rank computes an array from the state and its data, the arrays are added up in the order
    of the partitions, and rank 0 computes the next state from the sum. Blocks until the loop has
    ended. The same partitions give the same bits on every run. This computes a mean::

        def contribution(mean, rows, iteration):
            return [sum(rows), len(rows)]

        def update(mean, total, iteration):
            return total[0] / total[1]

        mean = iterate(rdd, 0.0, contribution, update, max_iterations=1).state

    :param rows: an RDD or a DataFrame, with as many slots as it has partitions
    :param initial: the state before the first iteration. A numpy array, whose type and shape must
        not change, is sent as it is; other states are pickled in each iteration
    :param contribution: ``contribution(state, data, iteration)`` returns a number or an array,
        converted to ``float64``, of the same shape on all ranks and in all iterations. It must
        neither change nor keep the state. Ranks without rows contribute zeros
    :param update: ``update(state, total, iteration)`` returns the next state; on rank 0 only
    :param max_iterations: 1 or more
    :param load: ``load(rows)`` returns a rank's data from an iterator over its rows (at least one;
        of a DataFrame ``pyarrow.RecordBatch``); by default a list or a ``pyarrow.Table``
    :param stop: ``stop(previous, state, iteration)`` returns whether to stop; on rank 0 only, after
        the update
    :param loss: ``loss(state, total, iteration)`` returns the loss before the update; on rank 0
        only
    :param checkpoint_interval: iterations between checkpoints of the state in the driver, for the
        next attempt; by default none. Needs ``stage_retry``
    :param stage_retry: whether Spark runs all ranks again when one fails, up to
        ``spark.stage.maxConsecutiveAttempts`` times
    :param stream: as in :func:`run`
    :param progress: as in :func:`run`, of the iterations
    :raises IterationError: if a function has failed; the rank's stack trace is its cause
    :raises RankFailedError: if the ranks have failed otherwise
    """
    _require_positive("max_iterations", max_iterations)
    if checkpoint_interval is not None:
        _require_positive("checkpoint_interval", checkpoint_interval)
        if not stage_retry:
            raise ValueError(
                "checkpoint_interval needs stage_retry=True: without it no attempt restores it"
            )
    if initial is None:
        raise ValueError("The state must not be None")
    # An attribute of the object itself may be a column of a DataFrame.
    is_rdd = hasattr(type(rows), "barrier")
    if not is_rdd and not hasattr(type(rows), "mapInArrow"):
        raise TypeError(f"The rows must be an RDD or a DataFrame, not a {type(rows).__name__}")
    session = _session(rows, is_rdd)
    if not is_remote(session):
        require_jar(session.sparkContext)
    loop = IterationLoop(
        initial,
        Functions(contribution, update, load, stop, loss),
        list if is_rdd else _table,
        _is_row if is_rdd else _has_rows,
        max_iterations,
        checkpoint_interval or 0,
    )
    display = Display(max_iterations, progress, "iteration")
    results = run_on_rows(session, rows, loop.run, display, stream, stage_retry)
    if not results:
        raise ValueError("There are no partitions, so there are no ranks")
    result: IterationResult = results[0]
    return result


def _require_positive(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} must be 1 or more, not {value}")


def _session(rows: Any, is_rdd: bool) -> Any:
    if not is_rdd:
        return rows.sparkSession
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def _is_row(_row: Any) -> bool:
    return True


def _has_rows(batch: Any) -> bool:
    return bool(batch.num_rows > 0)


def _table(batches: Iterator[Any]) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches(list(batches))

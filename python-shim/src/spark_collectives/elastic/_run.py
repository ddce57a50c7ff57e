"""The driver's side of an elastic stage."""

from __future__ import annotations

from typing import Any, Callable, Iterator, List, Optional, Tuple

from .. import _task
from .._display import Display
from .._job import Job, is_remote, require_jar
from .._reports import ReportReader
from ..iteration import _require_positive, _session
from ..runner import first_cause, follow, is_secondary
from ._replica_task import ReplicaTask
from .manager import Manager


def run(
    rows: Any,
    train: Callable[[Manager, Iterator[Any]], Any],
    min_replicas: int = 1,
    checkpoint_interval: Optional[int] = None,
    *,
    stream: Optional[bool] = None,
    progress: Optional[bool] = None,
) -> Any:
    """Train replicas of a model that go on when executors are lost, and return their result.

    An ordinary stage with one task for each partition of ``rows``, each of which calls
    ``train(manager, rows)`` with its :class:`Manager`. A lost executor, or Python worker, ends its
    own replicas only; the others lose one attempt of one step. Spark starts the lost tasks again,
    which receive the state of the others. Slots for all at once are not needed, and dynamic
    allocation is allowed. Blocks until all tasks have ended.

    An exception of ``train`` fails the run at once, and is raised here as by
    ``spark_collectives.run``. If all replicas that have the newest state are lost, the run goes on
    from the last checkpoint, or from a replica that was left behind if that is newer; without
    either it fails.

    :param rows: an RDD or a DataFrame
    :param train: called again, on another executor, for a replica that was lost. Its iterator has
        the rows of an RDD's partition, or of a DataFrame's as ``pyarrow.RecordBatch``. It should
        return the same on all replicas; the result is that of one
    :param min_replicas: a step waits while there are fewer
    :param checkpoint_interval: after so many steps one replica writes the state to the driver,
        which keeps the last two until the run ends, for the case that all are lost; by default
        never
    :param stream: whether lines that replicas print are shown, as in ``spark_collectives.run``
    :param progress: whether the progress of the replicas is shown, as there
    :raises RuntimeError: if the settings of the application do not let Spark start lost tasks
        again (the message says what to set), the session lacks the library's jar, it is one of
        Spark Connect, or all replicas with the newest state were lost and there is no checkpoint
    :raises TypeError: if the rows are neither
    :raises ValueError: if there are fewer partitions than ``min_replicas``, or a barrier stage
        computes them
    """
    _require_positive("min_replicas", min_replicas)
    if checkpoint_interval is not None:
        _require_positive("checkpoint_interval", checkpoint_interval)
    # An attribute of the object itself may be a column of a DataFrame.
    is_rdd = hasattr(type(rows), "barrier")
    if not is_rdd and not hasattr(type(rows), "mapInArrow"):
        raise TypeError(f"The rows must be an RDD or a DataFrame, not a {type(rows).__name__}")
    session = _session(rows, is_rdd)
    if is_remote(session):
        raise RuntimeError(
            "An elastic stage needs a session with a JVM of its own, and this one is of Spark "
            "Connect"
        )
    require_jar(session.sparkContext)
    reader = None if stream is False else ReportReader(session.sparkContext)
    job = _ElasticJob(session, rows, train, min_replicas, checkpoint_interval or 0, reader)
    display = Display(1, progress, "run")
    follow(job, display, reader)
    if job.error is not None:
        own = [report for report in display.exceptions if not is_secondary(report)]
        raise first_cause(own, job.error) if own else job.error
    return next(result for finished, result in job.results.values() if finished)


class _ElasticJob(Job):
    """The job of the replicas."""

    def __init__(
        self,
        session: Any,
        rows: Any,
        train: Callable[[Manager, Iterator[Any]], Any],
        min_replicas: int,
        checkpoint_interval: int,
        reader: Optional[ReportReader],
    ) -> None:
        super().__init__(session, False, None, rows)
        self._train = train
        self._min_replicas = min_replicas
        self._checkpoint_interval = checkpoint_interval
        self._reports = None if reader is None else reader.id

    def _on_rdd(self) -> List[Tuple[int, bytes]]:
        return self._run_replicas(
            lambda task: self._rows.mapPartitions(task.on_rows),
            lambda results: results._jrdd.rdd(),
            lambda results: results.collect(),
        )

    def _on_dataframe(self) -> List[Tuple[int, bytes]]:
        return self._run_replicas(
            lambda task: self._rows.mapInArrow(task.on_batches, "rank int, result binary"),
            lambda results: results._jdf.queryExecution().toRdd(),
            lambda results: [(row.rank, bytes(row.result)) for row in results.collect()],
        )

    def _run_replicas(
        self,
        mapped: Callable[[ReplicaTask], Any],
        rdd_of: Callable[[Any], Any],
        collected: Callable[[Any], List[Tuple[int, bytes]]],
    ) -> List[Tuple[int, bytes]]:
        from py4j.protocol import Py4JJavaError

        context = self._session.sparkContext
        spark = context._jvm.org.sparkcollectives.spark
        spark.SparkCollectives.install(context._jsc.sc())
        begun = spark.internal.driver.ElasticRun.begin(
            context._jvm.org.apache.spark.SparkEnv.get(), self._min_replicas
        )
        try:
            context.setLocalProperty(_task.RUN, begun.id())
            task = ReplicaTask(
                self._train,
                begun.id(),
                self._checkpoint_interval,
                self._reports,
                # With a local master the replicas' processes print where this one does.
                echo=self._reports is None or not context._jsc.sc().isLocal(),
            )
            results = mapped(task)
            self._check(spark.internal.driver.RetryPreflight, rdd_of(results))
            begun.cancelWhenFailed(context._jsc.sc(), self._tag)
            try:
                return collected(results)
            except Exception as e:
                reason = begun.failure().getNow(None)
                text = reason.getMessage() if reason is not None else f"The replicas failed: {e}"
                begun.failed(text)
                raise RuntimeError(text) from e
        except Py4JJavaError as e:
            raise RuntimeError(e.java_exception.getMessage()) from None
        finally:
            begun.close()

    def _check(self, preflight: Any, rdd: Any) -> None:
        from py4j.protocol import Py4JJavaError

        try:
            preflight.check(rdd)
        except Py4JJavaError as e:
            refused = e.java_exception
            kind = ValueError if "IllegalArgument" in refused.getClass().getName() else RuntimeError
            raise kind(refused.getMessage()) from None
        partitions = rdd.getNumPartitions()
        if partitions < self._min_replicas:
            raise ValueError(
                f"A step needs from 1 to {partitions} replicas, the number of partitions, and "
                f"min_replicas is {self._min_replicas}"
            )

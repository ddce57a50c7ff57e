"""The Spark job that runs a function as ranks."""

from __future__ import annotations

import contextlib
import pickle
import threading
import uuid
from typing import Any, ContextManager, Dict, List, Optional, Tuple

from ._jvm_connections import own_connections
from ._rank_task import RankTask

_CANCEL_SECONDS = 10.0
_CANCEL_AGAIN_SECONDS = 0.5

_DESCRIPTION = "spark.job.description"
#: The local property by which Spark interrupts the tasks of a job that is cancelled.
_INTERRUPT = "spark.job.interruptOnCancel"


class Job:
    """The Spark job of the ranks. It runs on its own thread, so that the caller can show output."""

    def __init__(
        self,
        session: Any,
        remote: bool,
        task: Optional[RankTask],
        rows: Any,
        stage_retry: bool = False,
        ranks: Optional[int] = None,
    ) -> None:
        """Create a job.

        :param task: None if the job makes its own
        :param rows: an RDD or a DataFrame, each partition of which is a rank
        :param stage_retry: whether Spark runs all ranks again when one fails
        :param ranks: the partitions of a DataFrame, if they are known; else it is planned, and its
            shuffles run, before slots are counted
        """
        from pyspark import InheritableThread

        self._session = session
        self._remote = remote
        self._task: Any = task
        self._rows = rows
        self._stage_retry = stage_retry
        self._ranks = ranks
        self._tag = f"spark-collectives-{uuid.uuid4()}"
        self._properties: Any = None
        self.ended = threading.Event()
        self.results: Dict[int, Any] = {}
        self.error: Optional[BaseException] = None
        more = {"session": session} if remote else {}
        self._thread = InheritableThread(target=self._run, name="collectives-job", **more)
        self._thread.daemon = True

    def start(self) -> None:
        """Start the job."""
        if not self._remote:
            # Without pinned threads, as in Zeppelin, PySpark's InheritableThread inherits nothing.
            context = self._session.sparkContext
            self._properties = context._jsc.sc().getLocalProperties().clone()
        self._thread.start()

    def _run(self) -> None:
        try:
            is_rdd = hasattr(type(self._rows), "barrier")
            with self._own_connections():
                self._tag_jobs()
                rows = self._on_rdd() if is_rdd else self._on_dataframe()
            self.results = {rank: pickle.loads(result) for rank, result in rows}
        except BaseException as e:
            self.error = e
        finally:
            self.ended.set()

    def _on_rdd(self) -> List[Tuple[int, bytes]]:
        require_slots(self._session.sparkContext, self._rows._jrdd.rdd())
        results = self._rows.barrier().mapPartitions(self._task.on_rows)
        # Spark retries a barrier stage that ends in a shuffle.
        rows: List[Tuple[int, bytes]] = (
            results.coalesce(1, shuffle=True) if self._stage_retry else results
        ).collect()
        return rows

    def _on_dataframe(self) -> List[Tuple[int, bytes]]:
        schema = "rank int, result binary"
        results = self._rows.mapInArrow(self._task.on_batches, schema, barrier=True)
        if not self._remote:
            context = self._session.sparkContext
            ranks = self._ranks
            require_slots(
                context,
                results._jdf.queryExecution().toRdd()
                if ranks is None
                else context.parallelize(range(ranks), ranks)._jrdd.rdd(),
            )
        found = (results.repartition(1) if self._stage_retry else results).collect()
        return [(row.rank, bytes(row.result)) for row in found]

    def _own_connections(self) -> ContextManager[None]:
        if self._remote:
            return contextlib.nullcontext()
        return own_connections(self._session.sparkContext._gateway)

    def _tag_jobs(self) -> None:
        """Give the jobs of this thread a tag, which leaves them in the job group of the caller.

        A notebook's server finds, shows and cancels the jobs of a cell by their group.
        """
        if self._remote:
            self._session.addTag(self._tag)
            return
        context = self._session.sparkContext
        context._jsc.sc().setLocalProperties(self._properties)
        context.addJobTag(self._tag)
        context.setLocalProperty(_INTERRUPT, "true")
        if context.getLocalProperty(_DESCRIPTION) is None:
            context.setLocalProperty(_DESCRIPTION, "ranks of spark_collectives")

    def cancel(self) -> None:
        """Cancel the job if it has started, and wait for its end for some seconds."""
        if self._thread.ident is None:
            return
        threading.Thread(
            target=self._keep_cancelling, name="collectives-cancel", daemon=True
        ).start()
        self.ended.wait(_CANCEL_SECONDS)

    def _keep_cancelling(self) -> None:
        # Spark cancels what runs now, and this job may begin later: when there are slots for it.
        with contextlib.suppress(Exception), self._own_connections():  # The session has ended.
            while True:
                if self._remote:
                    self._session.interruptTag(self._tag)
                else:
                    self._session.sparkContext.cancelJobsWithTag(self._tag)
                if self.ended.wait(_CANCEL_AGAIN_SECONDS):
                    return


def require_jar(context: Any) -> None:
    """Refuse a driver whose JVM does not have the library's jar."""
    if not hasattr(context._jvm.org.sparkcollectives.spark.SparkCollectives, "requireSlots"):
        raise RuntimeError(
            "The driver does not have the library's jar: make the session with "
            "spark_collectives.configure(SparkSession.builder).getOrCreate()"
        )


def require_slots(context: Any, jvm_rdd: Any) -> None:
    """Refuse an RDD of the JVM with more partitions than tasks can run at the same time."""
    from py4j.protocol import Py4JJavaError

    collectives = context._jvm.org.sparkcollectives.spark.SparkCollectives
    try:
        collectives.requireSlots(jvm_rdd)
    except Py4JJavaError as e:
        raise RuntimeError(e.java_exception.getMessage()) from None


def is_remote(session: Any) -> bool:
    """Return whether the session is one of Spark Connect, which has no RDDs."""
    return type(session).__module__.startswith("pyspark.sql.connect")

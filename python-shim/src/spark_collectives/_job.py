"""The Spark job that runs a function as ranks."""

from __future__ import annotations

import pickle
import threading
import uuid
from typing import Any, Dict, List, Optional, Tuple

from ._rank_task import RankTask

_CANCEL_SECONDS = 10.0


class Job:
    """The Spark job of the ranks. It runs on its own thread, so that the caller can show output."""

    def __init__(self, session: Any, remote: bool, task: RankTask, ranks: int) -> None:
        from pyspark import InheritableThread

        self._session = session
        self._remote = remote
        self._task = task
        self._ranks = ranks
        self._tag = f"spark-collectives-{uuid.uuid4()}"
        self.ended = threading.Event()
        self.results: Dict[int, Any] = {}
        self.error: Optional[BaseException] = None
        thread = InheritableThread
        self._thread = (
            thread(target=self._run, session=session) if remote else thread(target=self._run)
        )
        self._thread.daemon = True

    def start(self) -> None:
        """Start the job."""
        self._thread.start()

    def _run(self) -> None:
        try:
            rows = self._on_dataframe() if self._remote else self._on_rdd()
            self.results = {rank: pickle.loads(result) for rank, result in rows}
        except BaseException as e:
            self.error = e
        finally:
            self.ended.set()

    def _on_rdd(self) -> List[Tuple[int, bytes]]:
        context = self._session.sparkContext
        rdd = context.parallelize(range(self._ranks), self._ranks)
        _require_slots(context, rdd)
        context.setJobGroup(self._tag, f"{self._ranks} ranks", interruptOnCancel=True)
        rows: List[Tuple[int, bytes]] = rdd.barrier().mapPartitions(self._task.on_rows).collect()
        return rows

    def _on_dataframe(self) -> List[Tuple[int, bytes]]:
        self._session.addTag(self._tag)
        rows = self._session.range(0, self._ranks, 1, self._ranks)
        schema = "rank int, result binary"
        found = rows.mapInArrow(self._task.on_batches, schema, barrier=True).collect()
        return [(row.rank, bytes(row.result)) for row in found]

    def cancel(self) -> None:
        """Cancel the job, and wait for its end for some seconds."""
        if self._remote:
            self._session.interruptTag(self._tag)
        else:
            self._session.sparkContext.cancelJobGroup(self._tag)
        self.ended.wait(_CANCEL_SECONDS)


def require_jar(context: Any) -> None:
    """Refuse a driver whose JVM does not have the library's jar."""
    if not hasattr(context._jvm.org.sparkcollectives.spark.SparkCollectives, "requireSlots"):
        raise RuntimeError(
            "The driver does not have the library's jar: make the session with "
            "spark_collectives.configure(SparkSession.builder).getOrCreate()"
        )


def _require_slots(context: Any, rdd: Any) -> None:
    from py4j.protocol import Py4JJavaError

    collectives = context._jvm.org.sparkcollectives.spark.SparkCollectives
    try:
        collectives.requireSlots(rdd._jrdd.rdd())
    except Py4JJavaError as e:
        raise RuntimeError(e.java_exception.getMessage()) from None

"""Running a function as ranks, from a notebook or a program."""

from __future__ import annotations

import contextlib
import json
import pickle
import sys
import threading
import traceback
import uuid
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import _reports
from ._reports import LineWriter, Report, Reporter, ReportReader
from .errors import CollectiveError

_LOOK_SECONDS = 0.1

#: How much of an exception a rank reports: as itself, and as text.
_MOST_PICKLED_BYTES = 8 << 20
_MOST_CHARACTERS = 64 * 1024

_reporter: Optional[Reporter] = None


class RankFailedError(RuntimeError):
    """A rank failed with something that could not be brought here as it is; ``rank`` or -1."""

    def __init__(self, rank: int, message: str) -> None:
        super().__init__(message)
        self.rank = rank

    def __reduce__(self) -> Tuple[Any, ...]:
        return RankFailedError, (self.rank, str(self))


class RemoteTraceback(Exception):
    """The stack of a rank that failed, as the cause of what was raised for it."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def run(
    fn: Callable[..., Any],
    num_ranks: int,
    *args: Any,
    spark: Any = None,
    stream: Optional[bool] = None,
    progress: Optional[bool] = None,
    **kwargs: Any,
) -> List[Any]:
    """Run ``fn(*args, **kwargs)`` as ``num_ranks`` ranks, and return what they return, by rank.

    Each rank has joined the world group already. While they run, what ranks print appears here,
    each line with ``[rank N]`` before it. When a rank fails, all stop, and the first exception is
    raised here as it is, with the rank's stack as its cause; as :class:`RankFailedError` if it
    cannot be brought here, is ``SystemExit`` or the like, or ranks do not report to this process.

    :param fn: called once on each rank; must be picklable by cloudpickle, as its results
    :param spark: the session; by default the active one
    :param stream: whether ranks report to this process what they print and raise, over Spark's own
        RPC. By default they do, unless the session is one of Spark Connect, where they cannot
    :param progress: whether a bar shows how many ranks are done, or what :func:`report_progress`
        says; by default in terminals and notebooks. Needs tqdm
    """
    if num_ranks < 1:
        raise ValueError(f"There must be at least one rank, not {num_ranks}")
    session = _session(spark)
    remote = _is_remote(session)
    if remote and stream:
        raise ValueError(
            "stream=True is not possible with Spark Connect: this process has no JVM to which the "
            "ranks could report"
        )
    if not remote:
        _require_jar(session.sparkContext)
    view = _View(num_ranks, progress)
    reader = None if remote or stream is False else ReportReader(session.sparkContext._jvm)
    task = _RankTask(fn, args, kwargs, None if reader is None else reader.id)
    job = _Job(session, remote, task, num_ranks)
    try:
        job.start()
        try:
            while not job.ended.wait(_LOOK_SECONDS):
                view.show_all(reader)
        except BaseException:
            # An interrupt of the notebook's cell, say.
            job.cancel()
            raise
        finally:
            dropped = 0 if reader is None else reader.close()
            view.show_all(reader)
            view.say_dropped(dropped)
    finally:
        view.close()
    if job.error is not None:
        raise _first_cause(view.exceptions, job.error)
    return [job.results[rank] for rank in range(num_ranks)]


def report_progress(done: float, total: float, **values: Any) -> None:
    """Show in the caller's progress bar how far the ranks are: for rank 0 of :func:`run`.

    Further values, such as ``loss=0.3``, are shown behind it. Elsewhere it does nothing.
    """
    if _reporter is not None:
        shown = {name: str(value) for name, value in values.items()}
        content = json.dumps({"done": done, "total": total, "values": shown})
        _reporter.send(_reports.PROGRESS, content.encode("utf-8"))


def _session(spark: Any) -> Any:
    if spark is not None:
        return spark
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None:
        raise RuntimeError("There is no active SparkSession: make one, or pass spark=...")
    return active


def _is_remote(session: Any) -> bool:
    """Whether it is of Spark Connect, where there are no RDDs."""
    return type(session).__module__.startswith("pyspark.sql.connect")


class _RankTask:
    """What runs on each rank; pickled with the function."""

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Tuple[Any, ...],
        kwargs: Dict[str, Any],
        run: Optional[str],
    ) -> None:
        self._fn = fn
        self._args = args
        self._kwargs = kwargs
        self._run = run

    def __call__(self) -> Tuple[int, bytes]:
        global _reporter
        from pyspark import TaskContext, cloudpickle

        from . import init_process_group

        context = TaskContext.get()
        assert context is not None
        rank = context.partitionId()
        reporter = _reporter = Reporter(self._run)
        out = LineWriter(reporter, _reports.LINE, sys.stdout)
        err = LineWriter(reporter, _reports.ERROR_LINE, sys.stderr)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                init_process_group()
                result = self._fn(*self._args, **self._kwargs)
            return rank, cloudpickle.dumps(result, pickle.HIGHEST_PROTOCOL)
        except BaseException as e:
            out.end()
            err.end()
            reporter.send(_reports.EXCEPTION, _pickled(e))
            raise
        finally:
            _reporter = None
            out.end()
            err.end()
            reporter.send(_reports.ENDED, b"")
            reporter.close()

    def of_rows(self, _rows: Iterator[Any]) -> Iterator[Tuple[int, bytes]]:
        """Run as a partition of an RDD."""
        yield self()

    def of_batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Run as a partition of a DataFrame."""
        import pyarrow as pa

        for _ in batches:
            pass
        rank, result = self()
        yield pa.RecordBatch.from_arrays(
            [pa.array([rank], pa.int32()), pa.array([result], pa.binary())], ["rank", "result"]
        )


def _pickled(error: BaseException) -> bytes:
    from pyspark import cloudpickle

    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    text = f"{type(error).__name__}: {error}"
    secondary = isinstance(error, CollectiveError)
    try:
        content = cloudpickle.dumps(error)
        pickle.loads(content)
    except Exception:
        content = b""
    if len(content) > _MOST_PICKLED_BYTES:
        content = b""
    return bytes(cloudpickle.dumps((secondary, _shortened(text), _shortened(stack), content)))


def _shortened(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]}... ({len(text):,} characters)"


class _Job:
    """The Spark job, which runs on a thread of its own so that this one can show what it does."""

    def __init__(self, session: Any, remote: bool, task: _RankTask, ranks: int) -> None:
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
        self._thread.start()

    def _run(self) -> None:
        try:
            rows = self._with_dataframe() if self._remote else self._with_rdd()
            self.results = {rank: pickle.loads(result) for rank, result in rows}
        except BaseException as e:
            self.error = e
        finally:
            self.ended.set()

    def _with_rdd(self) -> List[Tuple[int, bytes]]:
        context = self._session.sparkContext
        rdd = context.parallelize(range(self._ranks), self._ranks)
        _require_slots(context, rdd)
        context.setJobGroup(self._tag, f"{self._ranks} ranks", interruptOnCancel=True)
        rows: List[Tuple[int, bytes]] = rdd.barrier().mapPartitions(self._task.of_rows).collect()
        return rows

    def _with_dataframe(self) -> List[Tuple[int, bytes]]:
        self._session.addTag(self._tag)
        rows = self._session.range(0, self._ranks, 1, self._ranks)
        schema = "rank int, result binary"
        found = rows.mapInArrow(self._task.of_batches, schema, barrier=True).collect()
        return [(row.rank, bytes(row.result)) for row in found]

    def cancel(self) -> None:
        if self._remote:
            self._session.interruptTag(self._tag)
        else:
            self._session.sparkContext.cancelJobGroup(self._tag)
        self.ended.wait(10)


def _require_jar(context: Any) -> None:
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


class _View:
    """What the caller sees of the ranks."""

    def __init__(self, ranks: int, progress: Optional[bool]) -> None:
        self.exceptions: List[Report] = []
        self._ranks = ranks
        self._bar = _progress_bar(ranks, progress)
        self._told = False

    def show_all(self, reader: Optional[ReportReader]) -> None:
        if reader is None:
            return
        while not reader.reports.empty():
            self._show(reader.reports.get())

    def say_dropped(self, count: int) -> None:
        if count > 0:
            print(f"{count:,} lines are left out: ranks printed faster than they could be shown")

    def _show(self, report: Report) -> None:
        if report.kind in (_reports.LINE, _reports.ERROR_LINE):
            out = sys.stdout if report.kind == _reports.LINE else sys.stderr
            line = f"[rank {report.rank}] {report.content.decode('utf-8', 'replace')}"
            if self._bar is None:
                print(line, file=out, flush=True)
            else:
                self._bar.write(line, file=out)
        elif report.kind == _reports.EXCEPTION:
            self.exceptions.append(report)
        elif report.kind == _reports.PROGRESS:
            self._progress(json.loads(report.content))
        elif report.kind == _reports.ENDED and self._bar is not None and not self._told:
            self._bar.update(1)

    def _progress(self, told: Dict[str, Any]) -> None:
        if self._bar is not None:
            self._told = True
            self._bar.total = told["total"]
            self._bar.n = told["done"]
            self._bar.unit = "step"
            self._bar.set_postfix(told["values"], refresh=False)
            self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _progress_bar(ranks: int, progress: Optional[bool]) -> Any:
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=ranks, desc=f"{ranks} ranks", unit="rank")


def _first_cause(reports: List[Report], job: BaseException) -> BaseException:
    """Find what the first rank threw; ranks that only noticed that another failed do not count."""
    told = [(report.rank, *pickle.loads(report.content)) for report in reports]
    first = [each for each in told if not each[1]] or told
    if not first:
        unknown = RankFailedError(-1, f"The ranks failed: {job}")
        unknown.__cause__ = job
        return unknown
    rank, _, text, stack, content = first[0]
    try:
        error: Any = pickle.loads(content)
    except Exception:
        error = None
    # What is no Exception, such as an exit, is meant for the rank's process and not for this one.
    if not isinstance(error, Exception):
        error = RankFailedError(rank, f"Rank {rank} failed: {text}")
    cause: BaseException = error
    cause.__cause__ = RemoteTraceback(f"Rank {rank}:\n{stack}")
    return cause

"""The driver's side of running a function as ranks, from a notebook or a program."""

from __future__ import annotations

import functools
import pickle
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

from . import _rank_task
from ._display import Display
from ._job import Job, is_remote, require_jar
from ._rank_task import RankTask
from ._reports import Report, ReportReader

#: The interval at which reports of ranks are shown.
_POLL_SECONDS = 0.1


class RankFailedError(RuntimeError):
    """A rank failed with an exception that cannot be raised here itself.

    ``rank`` is -1 if it is not known.
    """

    def __init__(self, rank: int, message: str) -> None:
        super().__init__(message)
        self.rank = rank

    def __reduce__(self) -> Tuple[Any, ...]:
        return RankFailedError, (self.rank, str(self))


class RemoteTraceback(Exception):
    """The stack trace of a rank that failed, as the cause of the exception raised for it."""

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
    """Run ``fn(*args, **kwargs)`` as ``num_ranks`` ranks, and return their results, by rank.

    Ranks have joined the world group when ``fn`` is called. Lines that they print appear here, with
    ``[rank N]`` before them. When one fails, all stop, and the first exception is raised here, with
    the rank's stack trace as its cause; as :class:`RankFailedError` if it cannot be pickled, is too
    large, is ``SystemExit`` or the like, or if ranks do not report to this process. Blocks until
    all ranks have ended.

    :param fn: called once on each rank; cloudpickle must pickle it and its results
    :param spark: the session; by default the active one
    :param stream: whether ranks report printed lines and exceptions to this process; by default
        yes, but never with Spark Connect
    :param progress: whether a bar shows the ranks that are done, or what :func:`report_progress`
        reports; by default in notebooks, and in terminals if there is tqdm. Zeppelin, and with
        ``True`` any other place, has a line of text for each tenth of what is reported
    :raises RuntimeError: if there is no session, the session lacks the library's jar, or fewer
        slots are free than there are ranks
    :raises ValueError: if ``num_ranks`` is less than 1, or for ``stream=True`` with Spark Connect
    """
    if num_ranks < 1:
        raise ValueError(f"There must be at least one rank, not {num_ranks}")
    session = _session(spark)
    if stream and is_remote(session):
        raise ValueError(
            "stream=True is not possible with Spark Connect: this process has no JVM to which the "
            "ranks could report"
        )
    rows = partitions(session, num_ranks)
    body = functools.partial(_rank_task.without_rows, fn, args, kwargs)
    results = run_on_rows(session, rows, body, Display(num_ranks, progress), stream)
    return [results[rank] for rank in range(num_ranks)]


def partitions(session: Any, count: int) -> Any:
    """Return an RDD of so many partitions; with Spark Connect, which has none, a DataFrame.

    :raises RuntimeError: if the session lacks the library's jar
    """
    if is_remote(session):
        return session.range(0, count, 1, count)
    require_jar(session.sparkContext)
    return session.sparkContext.parallelize(range(count), count)


def run_on_rows(
    session: Any,
    rows: Any,
    body: Callable[[Any], Any],
    display: Display,
    stream: Optional[bool] = None,
    stage_retry: bool = False,
    ranks: Optional[int] = None,
    kind: Type[RankTask] = RankTask,
) -> Dict[int, Any]:
    """Run ``body`` on the rows of each partition, as ranks, and return the results.

    :param rows: an RDD or a DataFrame
    :param display: shows what the ranks report; it is closed
    :param ranks: the number of partitions, if it is known
    :param kind: the task that runs ``body``
    """
    remote = is_remote(session)
    reader = None if remote or stream is False else ReportReader(session.sparkContext)
    if reader is None:
        task = kind(body, None)
    else:
        # In local mode the ranks' processes print where this one does.
        local = session.sparkContext._jsc.sc().isLocal()
        task = kind(body, reader.id, echo=not (local and display.shows_lines))
    job = Job(session, remote, task, rows, stage_retry, ranks)
    follow(job, display, reader)
    if job.error is not None:
        raise first_cause(display.exceptions, job.error)
    return job.results


def follow(job: Job, display: Display, reader: Optional[ReportReader]) -> None:
    """Run a job, and show until its end what its tasks report; both are closed."""
    try:
        try:
            job.start()
            while not job.ended.wait(_POLL_SECONDS):
                display.show_all(reader)
        except BaseException:
            # For example an interrupt of the notebook's cell.
            job.cancel()
            raise
        finally:
            dropped = 0 if reader is None else reader.close()
            display.show_all(reader)
            display.show_dropped(dropped)
    finally:
        display.close()


def report_progress(done: float, total: float, **values: Any) -> None:
    """Show the progress of the ranks in the bar of the caller of :func:`run`.

    Call it on rank 0 only: the bar shows what came last, from whichever rank. Further values, such
    as ``loss=0.3``, are shown behind the bar. Outside of :func:`run` it does nothing.
    """
    _rank_task.report_progress(done, total, values)


def _session(spark: Any) -> Any:
    if spark is not None:
        return spark
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None:
        raise RuntimeError("There is no active SparkSession: make one, or pass spark=...")
    return active


def is_secondary(report: Report) -> bool:
    """Return whether a rank has reported an error that another one's failure has caused."""
    return bool(pickle.loads(report.content)[0])


def first_cause(reports: List[Report], job: BaseException) -> BaseException:
    """Return the exception of the first rank that failed by itself, not because of another rank."""
    failures = [(report.rank, *pickle.loads(report.content)) for report in reports]
    first = [each for each in failures if not each[1]] or failures
    if not first:
        if isinstance(job, RuntimeError):  # The job was refused, and no rank began.
            return job
        unknown = RankFailedError(-1, f"The ranks failed: {job}")
        unknown.__cause__ = job
        return unknown
    rank, _, text, stack, content = first[0]
    try:
        error: Any = pickle.loads(content)
    except Exception:
        error = None
    # An exit, or another BaseException, is meant for the rank's process and not for this one.
    if not isinstance(error, Exception):
        error = RankFailedError(rank, f"Rank {rank} failed: {text}")
    cause: BaseException = error
    cause.__cause__ = RemoteTraceback(f"Rank {rank}:\n{stack}")
    return cause

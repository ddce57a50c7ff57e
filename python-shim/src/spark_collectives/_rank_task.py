"""The task that runs a function on one rank, and reports to the driver."""

from __future__ import annotations

import contextlib
import json
import pickle
import sys
import traceback
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

from . import _reports
from ._groups import init_process_group
from ._reports import LineWriter, Reporter
from .errors import CollectiveError

#: The largest exception that a rank reports: pickled, and as text.
_MAX_PICKLED_BYTES = 8 << 20
_MAX_CHARACTERS = 64 * 1024

#: The reporter of the rank that runs in this process.
_reporter: Optional[Reporter] = None


def report_progress(done: float, total: float, values: Dict[str, Any]) -> None:
    """Report the progress of the rank that runs in this process, if there is one."""
    if _reporter is not None:
        shown = {name: str(value) for name, value in values.items()}
        content = json.dumps({"done": done, "total": total, "values": shown})
        _reporter.send(_reports.PROGRESS, content.encode("utf-8"))


def without_rows(
    fn: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any], rows: Iterator[Any]
) -> Any:
    """Call a function that does not need the rows of its partition."""
    for _ in rows:
        pass
    return fn(*args, **kwargs)


class RankTask:
    """The task that runs the function on each rank; it is pickled with the function.

    :param fn: called with the rows of the rank's partition
    :param run: to whom the ranks report; None if to nobody
    :param echo: whether what they print goes to the output of their processes, too
    """

    def __init__(
        self, fn: Callable[[Iterator[Any]], Any], run: Optional[str], echo: bool = True
    ) -> None:
        self._fn = fn
        self._run = run
        self._echo = echo

    def __call__(self, rows: Iterator[Any]) -> Tuple[int, bytes]:
        global _reporter
        from pyspark import TaskContext, cloudpickle

        context = TaskContext.get()
        assert context is not None
        rank = context.partitionId()
        reporter = _reporter = Reporter(self._run)
        out = LineWriter(reporter, _reports.LINE, sys.stdout, self._echo)
        err = LineWriter(reporter, _reports.ERROR_LINE, sys.stderr, self._echo)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                self._join()
                result = self._fn(rows)
            return rank, cloudpickle.dumps(result, pickle.HIGHEST_PROTOCOL)
        except BaseException as e:
            out.end()
            err.end()
            if self._is_reported(e):
                reporter.send(_reports.EXCEPTION, pickled(e))
            raise
        finally:
            _reporter = None
            out.end()
            err.end()
            reporter.send(_reports.ENDED, b"")
            reporter.close()

    def _join(self) -> None:
        """Do what precedes the function."""
        init_process_group()

    def _is_reported(self, error: BaseException) -> bool:
        """Return whether the driver hears of an error of the function."""
        return True

    def on_rows(self, rows: Iterator[Any]) -> Iterator[Tuple[int, bytes]]:
        """Run as a partition of an RDD."""
        yield self(rows)

    def on_batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Run as a partition of a DataFrame, whose rows come in batches."""
        import pyarrow as pa

        rank, result = self(batches)
        yield pa.RecordBatch.from_arrays(
            [pa.array([rank], pa.int32()), pa.array([result], pa.binary())], ["rank", "result"]
        )


def pickled(error: BaseException) -> bytes:
    """Return an exception and its stack trace, pickled for the driver."""
    from pyspark import cloudpickle

    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    text = f"{type(error).__name__}: {error}"
    secondary = isinstance(error, CollectiveError)
    try:
        content = cloudpickle.dumps(error)
        pickle.loads(content)
    except Exception:
        content = b""
    if len(content) > _MAX_PICKLED_BYTES:
        content = b""
    return bytes(cloudpickle.dumps((secondary, _shortened(text), _shortened(stack), content)))


def _shortened(text: str) -> str:
    if len(text) <= _MAX_CHARACTERS:
        return text
    return f"{text[:_MAX_CHARACTERS]}... ({len(text):,} characters)"

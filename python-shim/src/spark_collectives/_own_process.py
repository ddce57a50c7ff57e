"""A rank in a process of its own, which ends with the rank."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
import time
import traceback
from typing import Any, Iterator, Optional, Tuple

import numpy as np

from . import _reports, _task
from ._groups import destroy_process_group
from ._rank_task import RankTask, pickled
from ._reports import Reporter
from .errors import CollectiveError

_FORK = multiprocessing.get_context("fork")

#: How long a process has to end after its function has.
_END_SECONDS = 10.0
#: How often the end of a process is looked for that keeps its pipe open.
_LOOK_SECONDS = 0.2


class OwnProcessTask(RankTask):
    """Runs the function on each rank in a process that is forked from Spark's Python worker.

    Spark gives a worker to one task after the other. A process of its own has nothing that an
    earlier function has left, such as the state of a framework or the GPUs that CUDA has found, and
    leaves nothing. The rows come to the worker: the context manager ``fn.receive(rows)`` is entered
    there, before the fork, and what it yields is what ``fn`` is called with.
    """

    def __call__(self, rows: Iterator[Any]) -> Tuple[int, bytes]:
        program: Any = self._fn
        try:
            with program.receive(rows) as received:
                done, outcome = self._in_own_process(received)
        except Exception as e:
            self._report(e)
            raise
        if not done:
            # The process has reported its exception.
            raise RuntimeError(outcome)
        found: Tuple[int, bytes] = outcome
        return found

    def _report(self, error: Exception) -> None:
        """Report an exception outside of the rank's process."""
        reporter = Reporter(self._run)
        reporter.send(_reports.EXCEPTION, pickled(error))
        reporter.close()

    def _in_own_process(self, received: Any) -> Tuple[bool, Any]:
        """Return whether the function has ended well, and the result or the stack trace."""
        here, there = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=self._serve, args=(there, received))
        with here:
            with there:
                process.start()
            try:
                _await_message(here, process)
                done, outcome = here.recv()
            except (EOFError, OSError):
                process.join()
                raise RuntimeError(_ended(process.exitcode)) from None
            if done:
                # Only a thread of the function may keep it from its end.
                with contextlib.suppress(EOFError):
                    _await_message(here, process, _END_SECONDS)
                process.kill()
                process.join()
                process.close()
        return done, outcome

    def _serve(self, there: Any, received: Any) -> None:
        """Run the function, in its process."""
        # Also a message that is cut off is to end with this process, where children that Python
        # forks live on, such as those of a data loader that was killed.
        os.register_at_fork(after_in_child=there.close)
        threading.Thread(target=_end_with_worker, name="collectives-worker", daemon=True).start()
        # As in a process that was not forked, the ranks' numbers differ, and those of a second run.
        np.random.seed()
        try:
            outcome = super().__call__(received)
            with contextlib.suppress(CollectiveError):
                destroy_process_group()
        except BaseException:
            there.send((False, traceback.format_exc()))
            # The task fails with this error, and not with the end of its process.
            task = _task.current()
            if task is not None:
                task.await_end(_END_SECONDS)
        else:
            there.send((True, outcome))


def _await_message(here: Any, process: Any, seconds: float = math.inf) -> None:
    """Wait until the process has sent something or ended, at most so long.

    Neither the pipe nor the sentinel says the end for sure: children of the process have both.

    :raises EOFError: if it has ended, and sent nothing
    """
    end = time.monotonic() + seconds
    while not here.poll(min(_LOOK_SECONDS, max(0.0, end - time.monotonic()))):
        if not process.is_alive() and not here.poll():
            raise EOFError
        if time.monotonic() >= end:
            return


def _end_with_worker() -> None:
    """End this process when Spark has killed the worker that waits for it."""
    worker = multiprocessing.parent_process()
    if worker is not None:
        worker.join()
        os._exit(1)


def _ended(code: Optional[int]) -> str:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    process = f"The process of rank {context.partitionId()}"
    if code is None or code >= 0:
        return f"{process} ended with the exit code {code}, in the middle of its function"
    name = signal.Signals(-code).name
    why = ". The kernel kills a process so when there is no memory left" if code == -9 else ""
    return f"{process} was ended by {name}{why}"

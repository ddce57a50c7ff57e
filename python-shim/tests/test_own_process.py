"""The process that is forked for a rank, and what the rank leaves in it."""

import contextlib
import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest
from pyspark import TaskContext

from spark_collectives import _own_process, _task
from spark_collectives._own_process import OwnProcessTask
from spark_collectives._rank_task import RankTask

#: More than a test takes, also on a slow machine.
LONG = 120.0


class _Leave:
    """Forks children that outlive a rank's process, with all that it has opened."""

    def __init__(self, ids, fork):
        self._ids = ids
        self._fork = fork
        ids.touch()

    def __call__(self):
        child = self._fork()
        if child == 0:
            time.sleep(2 * LONG)
            os._exit(0)
        with self._ids.open("a") as file:
            file.write(f"{child}\n")

    def end(self):
        for each in self._ids.read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(each), signal.SIGKILL)


def _fork_of_c():
    """Fork as a library in C does, which Python's hooks do not learn of."""
    return ctypes.PyDLL(None).fork()


@pytest.fixture(params=[os.fork, _fork_of_c])
def leave(request, tmp_path):
    """Return how a rank's process leaves a child."""
    leaves = _Leave(tmp_path / "ids", request.param)
    yield leaves
    leaves.end()


@pytest.fixture
def in_own_process(monkeypatch, leave):
    """Return how to run a function in a process as a rank's is, without Spark."""
    children = set(multiprocessing.active_children())
    task = SimpleNamespace(partitionId=lambda: 1, taskAttemptId=lambda: 1)
    monkeypatch.setattr(TaskContext, "get", classmethod(lambda _: task))
    monkeypatch.setattr(_own_process, "_END_SECONDS", LONG)
    monkeypatch.setattr(RankTask, "__call__", lambda rank, rows: rank._fn(rows))

    def run(function):
        rank = OwnProcessTask(lambda _: function(), None)
        # Else a test that fails would wait for the children.
        late = threading.Timer(LONG / 2, leave.end)
        late.start()
        try:
            return rank._in_own_process(None)
        except RuntimeError as e:
            return str(e)
        finally:
            in_time = late.is_alive()
            late.cancel()
            assert in_time, "the end of the process was seen only when its children had ended"

    yield run
    for each in set(multiprocessing.active_children()) - children:
        each.kill()


def _die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_its_end_is_seen_though_its_children_live(in_own_process, leave):
    def vanish():
        leave()
        _die()

    assert "The process of rank 1 was ended by SIGKILL" in in_own_process(vanish)


@pytest.mark.parametrize("leave", [os.fork], indirect=True)
def test_its_end_is_seen_in_the_middle_of_its_result(in_own_process, leave):
    def vanish():
        def send_half(connection, message):
            os.write(connection.fileno(), bytes(message)[: len(message) // 2])
            _die()

        leave()
        multiprocessing.connection.Connection._send = send_half
        return b"result"

    assert "The process of rank 1 was ended by SIGKILL" in in_own_process(vanish)


def test_its_result_does_not_wait_for_its_children(in_own_process, leave):
    def compute():
        leave()
        return 3

    assert in_own_process(compute) == (True, 3)


def test_its_exception_waits_neither_for_its_children_nor_for_itself(
    in_own_process, leave, monkeypatch
):
    def fail():
        leave()
        raise LookupError("no such shard")

    # The process awaits the end of its task, which fails with what is returned here.
    monkeypatch.setattr(_task, "current", lambda: SimpleNamespace(await_end=time.sleep))
    done, trace = in_own_process(fail)
    assert not done
    assert "LookupError: no such shard" in trace

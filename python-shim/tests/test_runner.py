"""``run``, which runs a function as ranks from the driver."""

import contextlib
import os
import re
import socket
import sys
import threading
import time

import numpy as np
import pytest

import spark_collectives as dist
from processes import run
from spark_collectives import _display, _job


def greet(factor, offset=0):
    print(f"hello from {dist.get_rank()}")
    print("a warning", file=sys.stderr)
    array = np.ones(10)
    dist.all_reduce(array)
    return float(array[0]) * factor + dist.get_rank() + offset


def test_returns_results_by_rank_and_shows_the_output_of_ranks(spark, capsys):
    assert dist.run(greet, 4, 10, offset=100, spark=spark) == [140.0, 141.0, 142.0, 143.0]
    out, err = capsys.readouterr()
    for rank in range(4):
        assert f"[rank {rank}] hello from {rank}\n" in out
        assert f"[rank {rank}] a warning\n" in err


def test_opens_no_port(spark, capsys, monkeypatch):
    def refuse(*_):
        raise OSError("run opens no port")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    assert dist.run(greet, 2, 1, spark=spark) == [2.0, 3.0]
    assert "[rank 1] hello from 1\n" in capsys.readouterr().out


def test_shows_output_after_the_group_is_destroyed_and_of_forks(spark, capsys):
    def leave():
        dist.destroy_process_group()
        print("still here")
        sys.stdout.flush()
        if os.fork() == 0:
            print("child of a rank")
            os._exit(0)
        os.wait()
        print("last words")

    dist.run(leave, 1, spark=spark)
    assert capsys.readouterr().out.splitlines() == [
        "[rank 0] still here",
        "[rank 0] child of a rank",
        "[rank 0] last words",
    ]


def test_shows_many_lines_in_their_order(spark, capsys):
    def count():
        for number in range(2000):
            print(number)

    dist.run(count, 1, spark=spark)
    expected = [f"[rank 0] {number}" for number in range(2000)]
    assert capsys.readouterr().out.splitlines() == expected


def test_uses_the_active_session_and_shows_nothing_without_stream(spark, capsys):
    assert dist.run(greet, 1, 1, stream=False) == [1.0]
    assert "hello" not in capsys.readouterr().out


def test_raises_the_exception_of_the_first_rank_that_failed(spark, capsys):
    def fail():
        print("last words", end="")
        if dist.get_rank() == 1:
            raise LookupError("no such shard")
        dist.barrier()

    with pytest.raises(LookupError, match="no such shard") as error:
        dist.run(fail, 3, spark=spark)
    assert "Rank 1:" in str(error.value.__cause__)
    assert "in fail" in str(error.value.__cause__)
    assert "[rank 1] last words" in capsys.readouterr().out


class Unpicklable(Exception):
    def __init__(self, first, second):
        super().__init__(first)
        self.second = second


def test_an_exception_that_cannot_be_pickled_is_raised_as_text(spark):
    def fail():
        if dist.get_rank() == 0:
            raise Unpicklable("deep trouble", 2)
        dist.barrier()

    with pytest.raises(dist.RankFailedError, match=r"Rank 0 failed: Unpicklable: deep trouble"):
        dist.run(fail, 2, spark=spark)


def test_a_rank_whose_process_exits_raises_an_error(spark):
    def vanish():
        import os

        if dist.get_rank() == 1:
            os._exit(7)
        dist.barrier()

    with pytest.raises(Exception, match=r"rank 1|exited unexpectedly"):
        dist.run(vanish, 2, spark=spark)


def test_refuses_more_ranks_than_there_are_slots_at_once(spark):
    conf = spark.sparkContext._jsc.sc().conf()
    conf.set("spark.collectives.preflight.timeout", "0s")
    try:
        with pytest.raises(RuntimeError, match="100 partitions"):
            dist.run(greet, 100, 1, spark=spark)
    finally:
        conf.remove("spark.collectives.preflight.timeout")
    with pytest.raises(ValueError, match="at least one rank"):
        dist.run(greet, 0, 1, spark=spark)


def test_shows_progress_that_rank_0_reports(spark, monkeypatch):
    shown = []

    class Bar:
        def line(self, out):
            return contextlib.nullcontext()

        def advance(self):
            shown.append("a rank has ended")

        def show(self, done, total, values):
            shown.append((done, total, values))

        def close(self):
            shown.append("closed")

    monkeypatch.setattr(_display, "progress_bar", lambda *_: Bar())

    def steps():
        for step in range(2):
            if dist.get_rank() == 0:
                dist.report_progress(step + 1, 2, loss=1 / (step + 1))

    dist.run(steps, 2, spark=spark)
    # Rank 1 may have ended before rank 0 reports.
    reported = [each for each in shown if each != "a rank has ended"]
    assert reported == [(1, 2, {"loss": "1.0"}), (2, 2, {"loss": "0.5"}), "closed"]

    shown.clear()
    dist.run(lambda: None, 2, spark=spark)
    assert shown == ["a rank has ended"] * 2 + ["closed"]

    shown.clear()
    dist.run(lambda: None, 2, spark=spark, stream=False)
    assert shown == []


def on_dataframe(spark, monkeypatch):
    """Run on the rows of a DataFrame, as with Spark Connect."""

    def run(job):
        job._rows = spark.range(0, 2, 1, 2)
        return job._on_dataframe()

    monkeypatch.setattr(_job.Job, "_on_rdd", run)


def test_runs_on_dataframes_where_there_are_no_rdds(spark, monkeypatch):
    pytest.importorskip("pyarrow")
    on_dataframe(spark, monkeypatch)
    assert dist.run(greet, 2, 1, spark=spark) == [2.0, 3.0]


def test_an_exit_of_a_rank_does_not_end_the_program_that_called(spark):
    def leave():
        if dist.get_rank() == 1:
            sys.exit(0)
        dist.barrier()

    with pytest.raises(dist.RankFailedError, match="Rank 1 failed: SystemExit: 0") as error:
        dist.run(leave, 2, spark=spark)
    assert "in leave" in str(error.value.__cause__)


def test_an_exception_that_is_too_large_is_raised_as_text(spark):
    def fail():
        if dist.get_rank() == 1:
            raise LookupError("too much", bytes(20 << 20))
        dist.barrier()

    with pytest.raises(dist.RankFailedError, match=r"Rank 1 failed: LookupError: .'too much'"):
        dist.run(fail, 2, spark=spark)


def test_without_reports_the_cause_is_the_failure_of_the_spark_job(spark):
    def fail():
        raise LookupError("no such shard")

    with pytest.raises(dist.RankFailedError, match="no such shard") as error:
        dist.run(fail, 1, spark=spark, stream=False)
    assert type(error.value.__cause__).__name__ == "Py4JJavaError"


def until(condition, seconds=300):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def wait_for_ever():
    print("waiting")
    while True:
        dist.barrier()
        time.sleep(0.01)


@pytest.fixture
def cell(spark):
    """Set the job group that a notebook's server gives to the jobs of a cell."""
    context = spark.sparkContext
    context.setJobGroup("cell 7", "a cell of a notebook", interruptOnCancel=False)
    context.addJobTag("notebook")
    before = context._jsc.sc().getLocalProperties().clone()
    yield context
    after = context._jsc.sc().getLocalProperties().clone()
    context._jsc.clearJobGroup()
    context.removeJobTag("notebook")
    assert after == before


@pytest.mark.parametrize("kind", ["rdd", "dataframe"])
def test_the_job_stays_in_the_group_of_its_caller(spark, cell, monkeypatch, kind):
    if kind == "dataframe":
        pytest.importorskip("pyarrow")
        on_dataframe(spark, monkeypatch)
    before = set(cell.statusTracker().getJobIdsForGroup("cell 7"))
    assert dist.run(greet, 2, 1, spark=spark) == [2.0, 3.0]
    cell._jsc.sc().listenerBus().waitUntilEmpty()
    assert len(set(cell.statusTracker().getJobIdsForGroup("cell 7")) - before) == 1


CELL = """
import contextlib
import time

import spark_collectives as dist
from pyspark.sql import SparkSession
from spark_collectives import _display

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
context = dist.configure(builder).getOrCreate().sparkContext


def show(what):
    context._jsc.sc().listenerBus().waitUntilEmpty()
    print(what, len(context.statusTracker().getJobIdsForGroup("cell 7")), flush=True)


def wait_for_ever():
    print("waiting")
    while True:
        dist.barrier()


def show_all(display, reader):
    # Many calls of this thread, while other threads call too.
    assert context.getLocalProperty("spark.jobGroup.id") == "cell 7"
    if reader is not None and not reader.reports.empty():
        end()


def interrupt():
    raise KeyboardInterrupt


_display.Display.show_all, end = show_all, lambda: None
context.setJobGroup("cell 7", "a cell of a notebook")
before = context._jsc.sc().getLocalProperties().clone()
dist.run(dist.get_rank, 2)
show("run")
dist.run(dist.get_rank, 2, stream=False)
show("run again")
context.parallelize([1], 1).count()
show("count")
end = lambda: context.cancelJobGroup("cell 7")
with contextlib.suppress(dist.RankFailedError):
    dist.run(wait_for_ever, 2)
show("cancelled")
end = interrupt
with contextlib.suppress(KeyboardInterrupt):
    dist.run(wait_for_ever, 2)
show("interrupted")
context.parallelize([1], 1).count()
show("count")
assert context._jsc.sc().getLocalProperties().equals(before)
while context.statusTracker().getActiveJobsIds():
    time.sleep(0.1)
"""


# Zeppelin connects Python with the JVM without pinned threads.
@pytest.mark.parametrize("pinned", ["true", "false"])
def test_all_jobs_of_a_cell_stay_in_its_group(tmp_path, pinned):
    program = tmp_path / "program.py"
    program.write_text(CELL, "utf-8")
    written = run(
        sys.executable,
        program,
        cwd=tmp_path,
        PYSPARK_PIN_THREAD=pinned,
        PYSPARK_PYTHON=sys.executable,
        SPARK_LOCAL_IP="127.0.0.1",
    )
    shown = re.findall(r"^(?:run|count|cancelled|interrupted).*", written, re.MULTILINE)
    assert shown == [
        "run 1",
        "run again 2",
        "count 3",
        "cancelled 4",
        "interrupted 5",
        "count 6",
    ], written


def test_an_interrupt_before_the_job_has_started_ends_the_reading(spark, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_job.Job, "start", interrupt)
    with pytest.raises(KeyboardInterrupt):
        dist.run(dist.get_rank, 2, spark=spark)
    assert "collectives-reports" not in [each.name for each in threading.enumerate()]


def test_the_notebooks_own_cancel_ends_the_job(spark, cell, capsys):
    def cancel():
        until(lambda: cell.statusTracker().getActiveJobsIds())
        cell.cancelJobGroup("cell 7")
        if not ended.wait(300):
            cell.cancelAllJobs()
            others.append("it was not in the group")

    ended, others = threading.Event(), []
    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        with pytest.raises(Exception, match=r"cancel|kill"):
            dist.run(wait_for_ever, 2, spark=spark)
    finally:
        ended.set()
        thread.join()
    assert others == []
    assert not cell.statusTracker().getActiveJobsIds()


def test_an_interrupt_cancels_this_job_and_no_other_of_the_group(spark, cell, monkeypatch):
    from pyspark import InheritableThread

    def for_ever(_):
        while True:
            time.sleep(0.1)

    def interrupt(display, reader):
        if reader is not None and not reader.reports.empty():
            raise KeyboardInterrupt

    def run_for_ever():
        with contextlib.suppress(Exception):
            cell.parallelize([0], 1).map(for_ever).count()

    other = InheritableThread(target=run_for_ever)
    monkeypatch.setattr(_display.Display, "show_all", interrupt)
    other.start()
    try:
        until(lambda: len(cell.statusTracker().getActiveJobsIds()) == 1)
        with pytest.raises(KeyboardInterrupt):
            dist.run(wait_for_ever, 2, spark=spark)
        until(lambda: len(cell.statusTracker().getActiveJobsIds()) == 1)
        assert other.is_alive()
    finally:
        cell.cancelJobGroup("cell 7")
        other.join(300)


def test_a_job_that_begins_after_an_interrupt_is_cancelled(spark, cell, monkeypatch):
    go_on, began = threading.Event(), threading.Event()

    def wait(*_):
        began.set()
        assert go_on.wait(300)

    def interrupt(display, reader):
        assert began.wait(300)
        raise KeyboardInterrupt

    before = set(cell.statusTracker().getJobIdsForGroup("cell 7"))
    monkeypatch.setattr(_job, "require_slots", wait)
    monkeypatch.setattr(_job, "_CANCEL_SECONDS", 0.1)
    monkeypatch.setattr(_display.Display, "show_all", interrupt)
    with pytest.raises(KeyboardInterrupt):
        dist.run(wait_for_ever, 2, spark=spark)
    go_on.set()
    until(lambda: set(cell.statusTracker().getJobIdsForGroup("cell 7")) - before)
    until(lambda: not cell.statusTracker().getActiveJobsIds())

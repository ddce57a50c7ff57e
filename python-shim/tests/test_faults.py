"""Failures of ranks: the errors of the other ranks, and the release of all resources."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import probe
import spark_collectives as dist
from conftest import await_executors
from spark_collectives import _connection

#: The most seconds until a failure ends the operations of the other ranks, on a busy machine.
SOON = 30.0


def left_behind(spark):
    def look(_rows):
        yield probe.left_behind()

    # More tasks than slots, so that each executor has one.
    return spark.sparkContext.parallelize(range(8), 8).mapPartitions(look).collect()


@pytest.fixture(autouse=True)
def nothing_is_left(spark):
    yield
    await_executors(spark, 2)
    deadline = time.monotonic() + 60
    while True:
        found = left_behind(spark)
        # The memory of a failed rank is freed when the JVM collects garbage, and is not counted.
        if all(each["threads"] + each["files"] + each["kept by workers"] == 0 for each in found):
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def raised_on(*ranks):
    """Return a condition: all of these ranks have raised an error."""
    return lambda noticed: set(ranks) <= set(noticed)


@pytest.fixture
def outcome(spark, tmp_path):
    """Run ranks that fail; return the errors of the ranks, once they suffice, and the driver's."""

    def run(fn, enough, size=4):
        folder = str(tmp_path)

        def task(_rows):
            dist.init_process_group(timeout=60)
            rank = dist.get_rank()
            # After a first operation all ranks have their connections.
            dist.all_reduce(np.ones(100_000, np.float32))
            start = time.monotonic()
            try:
                fn(rank)
            except BaseException as e:
                noticed = {
                    "type": type(e).__name__,
                    "text": str(e),
                    "rank": getattr(e, "rank", None),
                    "seconds": time.monotonic() - start,
                }
                with open(f"{folder}/{rank}.part", "w") as file:
                    json.dump(noticed, file)
                os.rename(f"{folder}/{rank}.part", f"{folder}/{rank}.json")
                raise
            yield rank

        job = spark.sparkContext.parallelize(range(size), size).barrier().mapPartitions(task)
        error = None
        try:
            job.collect()
        except Exception as e:
            error = str(e)
        noticed = {}
        deadline = time.monotonic() + SOON
        while time.monotonic() < deadline and not enough(noticed):
            for rank in range(size):
                if os.path.exists(f"{folder}/{rank}.json"):
                    with open(f"{folder}/{rank}.json") as file:
                        noticed[rank] = json.load(file)
            time.sleep(0.05)
        return noticed, error

    return run


def test_an_exception_reaches_the_other_ranks(outcome):
    def fail(rank):
        if rank == 2:
            raise KeyError("no such column")
        dist.all_reduce(np.ones(10, np.float32))

    noticed, error = outcome(fail, raised_on(0, 1, 3))
    assert "no such column" in error
    for rank in (0, 1, 3):
        assert noticed[rank]["type"] == "PeerFailedError", noticed
        assert noticed[rank]["rank"] == 2
        assert "rank 2" in noticed[rank]["text"]
        assert "no such column" in noticed[rank]["text"]
        assert noticed[rank]["seconds"] < SOON


def test_an_exception_reaches_ranks_that_reduce_in_parts(outcome):
    def fail(rank):
        large = np.ones(3_000_000, np.float32)
        # Allocates the memory of both ways, so that later operations are fast.
        dist.all_reduce(large)
        dist.all_reduce(large, async_op=True).wait()
        if rank == 1:
            raise OSError("the disk is full")
        if rank == 0:
            dist.all_reduce(large)
        work = dist.all_reduce(large, async_op=True)
        work.wait()

    noticed, _ = outcome(fail, raised_on(0, 2, 3))
    for rank in (0, 2, 3):
        assert noticed[rank]["type"] == "PeerFailedError", noticed
        assert "the disk is full" in noticed[rank]["text"]


@pytest.mark.parametrize("way", ["os._exit", "kill -9"])
def test_a_worker_that_ends_fails_its_rank(outcome, way):
    def fail(rank):
        if rank == 1:
            if way == "kill -9":
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(3)
        dist.barrier()

    noticed, error = outcome(fail, raised_on(0, 2, 3))
    assert error is not None
    assert set(noticed) == {0, 2, 3}
    for each in noticed.values():
        assert each["type"] == "PeerFailedError", noticed
        assert each["rank"] == 1
        assert each["seconds"] < SOON


def test_an_executor_that_is_killed_fails_its_ranks(outcome, spark):
    def fail(rank):
        if rank == 0:
            probe.kill_jvm()
        while True:
            dist.all_reduce(np.ones(100, np.float32))

    def other_executor(noticed):
        return sum(each["type"] == "PeerFailedError" for each in noticed.values()) >= 2

    noticed, error = outcome(fail, other_executor)
    assert error is not None
    # Ranks in the same JVM lose their bridge, the others their peers; no rank hangs.
    assert noticed
    kinds = {each["type"] for each in noticed.values()}
    assert kinds <= {"PeerFailedError", "BridgeError", "TransportError", "CollectiveError"}, noticed
    assert "PeerFailedError" in kinds, noticed
    assert all(each["seconds"] < SOON for each in noticed.values()), noticed
    await_executors(spark, 2)


def test_a_cancelled_job_wakes_ranks_that_wait(spark, tmp_path):
    folder = str(tmp_path)

    def wait(_rows):
        dist.init_process_group(timeout=600)
        rank = dist.get_rank()
        open(f"{folder}/waiting-{rank}", "w").close()
        try:
            if rank == 0:
                dist.recv(np.empty(1, np.float32), 1)
            else:
                dist.barrier()
        except dist.CollectiveError as e:
            with open(f"{folder}/woken-{rank}", "w") as file:
                file.write(type(e).__name__)
            raise
        yield rank

    context = spark.sparkContext
    errors = []

    def job():
        context.setJobGroup("to be cancelled", "waits", interruptOnCancel=True)
        try:
            context.parallelize(range(2), 2).barrier().mapPartitions(wait).collect()
        except Exception as e:
            errors.append(str(e))

    thread = threading.Thread(target=job)
    thread.start()
    deadline = time.monotonic() + 60
    while len(os.listdir(folder)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    start = time.monotonic()
    context.cancelAllJobs()
    thread.join(60)
    assert not thread.is_alive()
    assert errors and "cancel" in errors[0]
    while not any(name.startswith("woken") for name in os.listdir(folder)):
        assert time.monotonic() - start < SOON, os.listdir(folder)
        time.sleep(0.05)


def test_a_missed_deadline_names_the_missing_ranks(spark):
    def late(_rows):
        dist.init_process_group()
        if dist.get_rank() == 1:
            dist.recv(np.empty(1, np.float32), 0, tag=9)
        try:
            dist.world().all_reduce(np.ones(10, np.float32), timeout=0.5)
        except dist.CollectiveTimeoutError as e:
            yield isinstance(e, TimeoutError), e.missing_ranks, str(e)
            raise

    # The job fails with the error of whichever rank fails first.
    with pytest.raises(Exception, match=r"timed out after 0\.5 s: not arrived: rank 1"):
        spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(late).collect()


def test_a_mismatch_is_reported_on_both_ranks(outcome):
    def mismatch(rank):
        dist.all_reduce(np.ones(10 + rank, np.float32))

    noticed, _ = outcome(mismatch, raised_on(0, 1), 2)
    assert any(each["type"] == "CollectiveMismatchError" for each in noticed.values()), noticed
    assert any("float32 x 1" in each["text"] for each in noticed.values()), noticed


def test_ranks_that_succeed_leave_no_memory(spark, ranks):
    # The JVM's own mappings of shared memory end when it collects garbage, and are not counted.
    def held():
        return [
            sum(each[what] for each in left_behind(spark)) for what in ("files", "kept by workers")
        ]

    before = held()
    assert ranks(lambda rank, size: _all_reduce_much(), 4) == [4.0] * 4
    # A process that Spark keeps releases its memory when it sees that its task has ended.
    deadline = time.monotonic() + 60
    while any(now > then for now, then in zip(held(), before)):
        assert time.monotonic() < deadline, (held(), before)
        time.sleep(0.2)


def _all_reduce_much():
    array = np.ones(1_000_000, np.float32)
    dist.all_reduce(array)
    return float(array[-1])


def test_misuse_of_the_port_of_the_bridge_does_not_disturb_a_rank(ranks):
    def work(rank, size):
        import contextlib
        import socket
        import threading

        from pyspark import TaskContext

        array = np.ones(1000)
        intruders = []
        over = threading.Event()
        failed = []

        def misuse():
            port = int(TaskContext.get().getLocalProperty("spark.collectives.python.port"))
            address = ("127.0.0.1", port)
            with contextlib.suppress(OSError):
                for _ in range(1000):
                    intruders.append(socket.create_connection(address, timeout=10))
            with pytest.raises(dist.BridgeError, match="refused this process"):
                _connection.connect(*address, bytes(32), TaskContext.get().taskAttemptId())
            slow = socket.create_connection(address, timeout=10)
            intruders.append(slow)
            with contextlib.suppress(OSError):
                for _ in range(5):
                    slow.sendall(b"S")
                    over.wait(0.2)

        def reduce():
            # This thread opens its own connection while the port is misused.
            try:
                dist.all_reduce(array)
            except BaseException as e:
                failed.append(e)

        attack = None
        if rank == 0:
            attack = threading.Thread(target=misuse)
            attack.start()
        for _ in range(20):
            dist.all_reduce(np.ones(1000))
        thread = threading.Thread(target=reduce)
        thread.start()
        thread.join(60)
        if attack is not None:
            attack.join(60)
        dist.barrier()
        over.set()
        for each in intruders:
            each.close()
        assert not failed, failed
        return float(array[0])

    assert ranks(work, 2) == [2.0, 2.0]


FREEZE = """
import os, signal, sys, time

folder, refilled, *processes = sys.argv[1:]
time.sleep(0.3)
for process in processes:
    os.kill(int(process), signal.SIGSTOP)
deadline = time.monotonic() + 60
while len(os.listdir(folder)) < int(refilled) and time.monotonic() < deadline:
    time.sleep(0.05)
for process in processes:
    os.kill(int(process), signal.SIGCONT)
open(folder + "/thawed", "w").close()
"""


@pytest.mark.parametrize("copied", [False, True])
def test_a_rank_that_was_frozen_does_not_write_to_arrays_that_the_others_refill(
    ranks, tmp_path, copied
):
    folder = str(tmp_path)

    def reduce(rank, size):
        jvms = np.zeros(size, np.int64)
        dist.all_gather_into_tensor(jvms, np.array([probe.jvm()]))
        stopped = jvms == jvms[-1]
        group = dist.new_group(timeout=3)
        # Ranks do write to the memory through which an array of numpy's own is copied.
        array = np.zeros(8 << 20, np.float32) if copied else group.zeros(8 << 20, np.float32)
        dist.barrier()
        if rank == size - 1:
            others = str(int((~stopped).sum()))
            processes = [str(probe.jvm()), str(os.getpid())]
            subprocess.Popen([sys.executable, "-c", FREEZE, folder, others, *processes])
        deadline = time.monotonic() + 60
        with pytest.raises(dist.CollectiveError):
            while time.monotonic() < deadline:
                dist.all_reduce(array, group=group)
        if stopped[rank]:
            return "stopped"
        array.fill(7)
        open(f"{folder}/{rank}", "w").close()
        while not os.path.exists(f"{folder}/thawed"):
            assert time.monotonic() < deadline + 60
            time.sleep(0.05)
        # The rank resumes its operation, and soon gives up.
        time.sleep(1)
        return bool((array == 7).all())

    found = ranks(reduce, 3)
    assert found[-1] == "stopped"
    assert True in found
    assert False not in found

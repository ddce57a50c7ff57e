"""Memory that arrays share with the executor's JVM."""

import gc
import sys
import threading

import numpy as np
import pytest

import spark_collectives as dist
from pools import Pool


def test_an_array_may_be_collected_while_its_thread_holds_the_lock_of_the_pool():
    pool = Pool()
    arrays = [pool.empty((1000,), np.dtype(np.float32))]

    def collect():
        # The garbage collector may run at any allocation.
        with pool._lock:
            arrays.clear()

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    again = pool.empty((1000,), np.dtype(np.float32))
    assert pool.made == 1
    assert pool.find(again)[1] == 0
    assert pool.find(again[1:])[1] == 4


def test_an_array_is_found_by_its_place_whatever_view_it_is():
    pool, other = Pool(), Pool()
    array = pool.empty((4, 6), np.dtype(np.float64))
    assert pool.find(array.reshape(-1)[::1])[1] == 0
    assert pool.find(array[1:3])[1] == 48
    assert pool.find(array[3, 2:].view(np.uint8))[1] == 160
    assert pool.find(array.T) is None
    assert pool.find(np.zeros(24)) is None
    assert pool.find(np.zeros(24)[1:]) is None
    assert other.find(array) is None
    # numpy does not know the owner of memory that came through another library.
    assert pool.find(np.asarray(memoryview(array)[1:]))[1] == 48
    pool.close()
    assert pool.find(array) is None


@pytest.mark.parametrize("how", ["its owner", "its address"])
def test_arrays_are_created_and_collected_while_other_threads_find_theirs(how):
    pool = Pool()
    # Many arrays, so that a search by address takes a while.
    kept = [pool.empty((1000,), np.dtype(np.float32)) for _ in range(200)]
    # numpy does not know the owner of memory that came through another library.
    looked_for = kept[-1] if how == "its owner" else np.asarray(memoryview(kept[-1]))
    ended = threading.Event()
    failed = []

    def look():
        try:
            while not ended.is_set():
                assert pool.find(looked_for)[1] == 0
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=look) for _ in range(2)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for _ in range(2000):
            pool.empty((8,), np.dtype(np.float32))
    finally:
        sys.setswitchinterval(before)
        ended.set()
        for thread in threads:
            thread.join(30)
    assert not failed
    assert pool.made <= len(kept) + 2


def test_an_array_that_an_operation_uses_is_not_reused(ranks):
    def receive(rank, size):
        group = dist.world()
        if rank == 1:
            dist.barrier()
            group.send(np.full(1000, 3.0), 0)
            return True
        work = group.irecv(group.empty(1000, np.float64), 1)
        gc.collect()
        other = group.zeros(1000, np.float64)
        dist.barrier()
        work.wait()
        return bool((other == 0).all())

    assert ranks(receive, 2) == [True, True]


def test_an_array_that_a_dropped_work_uses_is_not_reused(ranks):
    def receive(rank, size):
        group = dist.world()
        if rank == 1:
            dist.barrier()
            group.send(np.full(1000, 3.0), 0)
            group.send(np.full(1000, 4.0), 0)
            return True
        group.irecv(group.empty(1000, np.float64), 1)
        gc.collect()
        other = group.zeros(1000, np.float64)
        dist.barrier()
        # This message comes after the one that the dropped work receives.
        group.recv(np.empty(1000), 1)
        return bool((other == 0).all())

    assert ranks(receive, 2) == [True, True]


def test_an_empty_array_is_staged_behind_one_that_fills_its_segment(ranks):
    def gather(rank, size):
        sizes = [64 * 1024, 0]
        outputs = [np.zeros(each, np.uint8) for each in sizes]
        dist.all_gather(outputs, np.full(sizes[rank], 7, np.uint8))
        return bool((outputs[0] == 7).all())

    assert ranks(gather, 2) == [True, True]


def test_the_memory_of_an_array_is_freed_with_it_after_the_end_of_its_pool():
    pool = Pool()
    array = pool.empty((100_000,), np.dtype(np.float64))
    kept = pool.empty((100_000,), np.dtype(np.float64))
    del array
    gc.collect()
    pool.close()
    assert not pool._returned
    del kept
    gc.collect()
    assert not pool._returned

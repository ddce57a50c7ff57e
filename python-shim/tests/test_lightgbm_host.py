"""The exchange of LightGBM's blocks in memory that ranks share, without Spark."""

import ctypes
import mmap
import os
import random
import threading
import time
import traceback

import numpy as np
import pytest

from lightgbm_ranks import on_threads, results
from spark_collectives import _semaphores
from spark_collectives.lightgbm import _host_barrier
from spark_collectives.lightgbm._host_exchange import HostExchange
from spark_collectives.lightgbm._reduction import reduce_parts

pytestmark = pytest.mark.skipif(not _semaphores.kind(), reason="there are no shared semaphores")

_Reducer = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int32)


@_Reducer
def add(source, target, element, size):
    """Add numbers of 8 bytes; as LightGBM's reducers do, in pairs."""
    assert element == 8
    assert size % 16 == 0
    there = np.ctypeslib.as_array((ctypes.c_double * (size // 8)).from_address(target))
    there += np.ctypeslib.as_array((ctypes.c_double * (size // 8)).from_address(source))


class Life:
    """The life of ranks of one process."""

    def __init__(self, timeout=60.0):
        self.seconds = timeout
        self.failure = None
        self.missing = self.left = None

    def timeout(self):
        return self.seconds

    def check(self):
        if self.failure is not None:
            raise self.failure

    def give_up(self, waited, missing, left):
        self.waited, self.missing, self.left = waited, list(missing), list(left)
        return TimeoutError(f"without {missing}")


class Shared:
    """Memory for some ranks, which processes that are forked later see, too."""

    def __init__(self, size, count):
        self.count = count
        # A page for each at least, as files have.
        self.step = (count + mmap.PAGESIZE - 1) & -mmap.PAGESIZE
        self.memory = mmap.mmap(-1, size * self.step)
        first = np.frombuffer(self.memory, np.uint8).__array_interface__["data"][0]
        self.addresses = [first + rank * self.step for rank in range(size)]

    def exchange(self, rank, life=None):
        return HostExchange(rank, self.addresses, self.count, life or Life())


def exchanges(size, count, life=None):
    shared = Shared(size, count)
    made = [shared.exchange(rank, life) for rank in range(size)]
    for each in made:
        each.prepare()
        # The memory lives as long as those who use it.
        each.shared = shared
    return made


def address(array):
    return array.__array_interface__["data"][0]


def gather(exchange, rank, blocks, in_place=False):
    """Gather the blocks; a rank takes from them only what it gives, and the lengths."""
    lengths = [len(each) for each in blocks]
    starts = [int(each) for each in np.cumsum([0, *lengths[:-1]])]
    output = np.full(sum(lengths) + 8, 0xEE, np.uint8)
    given = output if in_place else np.empty(max(1, lengths[rank]), np.uint8)
    given[: lengths[rank]] = blocks[rank]
    exchange.all_gather(address(given), lengths[rank], starts, lengths, address(output))
    assert (output[-8:] == 0xEE).all()
    return output[:-8]


def reduce(exchange, rank, rows, counts):
    """Reduce rows of numbers, one for each rank, whose parts have so many pairs."""
    lengths = [16 * each for each in counts]
    starts = [int(each) for each in np.cumsum([0, *lengths[:-1]])]
    given = rows[rank].copy()
    output = np.full(2 * counts[rank] + 1, -1.0)
    exchange.reduce_scatter(address(given), given.nbytes, 8, starts, lengths, address(output), add)
    assert output[-1] == -1.0
    return output[:-1]


def exchanged(exchange, rank, size, seed, rounds, most):
    """Exchange what every rank can draw, and compare; return how many blocks were right."""
    draw = np.random.default_rng(seed)
    for number in range(rounds):
        lengths = draw.integers(0, most, size) * (draw.random(size) < 0.8)
        blocks = [draw.integers(0, 255, each).astype(np.uint8) for each in lengths]
        found = gather(exchange, rank, blocks, in_place=number % 3 == 0)
        np.testing.assert_array_equal(found, np.concatenate(blocks), f"seed {seed}, {number}")
        counts = [int(each) for each in draw.integers(0, most // 16 + 1, size)]
        rows = draw.normal(size=(size, 2 * sum(counts)))
        found = reduce(exchange, rank, rows, counts)
        begin = 2 * sum(counts[:rank])
        wanted = in_order(rows)[begin : begin + 2 * counts[rank]]
        np.testing.assert_array_equal(found, wanted, f"seed {seed}, {number}")


def in_order(rows):
    """Add rows in the order of LightGBM's sockets."""
    parts = [each.copy() for each in rows]
    if parts[0].size:
        reduce_parts([address(each) for each in parts], 8, parts[0].nbytes, add)
    return parts[0]


def capacity(size, room):
    """The bytes of a rank's memory with two buffers of so many bytes."""
    return ((_host_barrier.bytes_for(size) + 63) & -64) + 2 * room


@pytest.mark.parametrize(
    ("size", "room", "most", "rounds"),
    [
        # All in one piece; most in several; and each block in many.
        (2, 16384, 2000, 60),
        (3, 1024, 2000, 40),
        (5, 2048, 9000, 15),
        # More ranks than this machine is likely to have processors.
        (2 * len(os.sched_getaffinity(0)) + 1, 4096, 1500, 10),
    ],
)
def test_blocks_of_any_size_arrive_on_threads(size, room, most, rounds):
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    made = exchanges(size, capacity(size, room))

    def run(group):
        exchanged(made[group.rank], group.rank, size, seed, rounds, most)

    results(on_threads(size, run))


def forked(size, function):
    """Call a function of the rank in a process of its own for each; require that all return."""
    children = []
    for rank in range(size):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                function(rank)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * size


@pytest.mark.parametrize(("size", "room"), [(2, 65536), (2, 4096), (4, 8192)])
def test_processes_see_each_others_bytes(size, room):
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    shared = Shared(size, capacity(size, room))
    for rank in range(size):
        shared.exchange(rank).prepare()
    forked(
        size,
        lambda rank: exchanged(shared.exchange(rank), rank, size, seed, 60, 8000),
    )


def test_two_groups_of_one_process_do_not_meet_each_other():
    size = 2
    first, second = exchanges(size, capacity(size, 512)), exchanges(size, capacity(size, 4096))

    def run(group):
        rank = group.rank
        threads = [
            threading.Thread(target=work, args=(made[rank], seed))
            for made, seed in ((first, 1), (second, 2))
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
            assert not each.is_alive()

    ended = []

    def work(exchange, seed):
        exchanged(exchange, exchange._rank, size, seed, 40, 3000)
        ended.append(seed)

    results(on_threads(size, run))
    assert sorted(ended) == [1, 1, 2, 2]


def test_a_failure_of_the_group_wakes_a_rank_that_waits():
    life = Life()
    made = exchanges(2, capacity(2, 512), life)
    threading.Timer(0.2, lambda: setattr(life, "failure", OSError("broken"))).start()
    began = time.monotonic()
    with pytest.raises(OSError, match="broken"):
        gather(made[0], 0, [np.ones(5, np.uint8)] * 2)
    assert time.monotonic() - began < 2.0 + 0.2


def test_a_failure_of_the_group_ends_ranks_that_need_not_wait():
    life = Life()
    made = exchanges(2, capacity(2, 512), life)
    blocks = [np.ones(5, np.uint8)] * 2

    def run(group):
        for number in range(10**6):
            if number == 100 and group.rank == 0:
                life.failure = OSError("broken")
            gather(made[group.rank], group.rank, blocks)

    began = time.monotonic()
    found = on_threads(2, run)
    assert [str(each) for each in found] == ["broken"] * 2
    assert time.monotonic() - began < 5.0


def test_the_timeout_names_the_ranks_that_did_not_come():
    life = Life(0.3)
    made = exchanges(4, capacity(4, 512), life)
    blocks = [np.ones(5, np.uint8)] * 4

    def run(group):
        if group.rank in (0, 2):
            gather(made[group.rank], group.rank, blocks)

    found = on_threads(4, run)
    assert [type(each) for each in found] == [TimeoutError, type(None)] * 2
    assert life.missing == [1, 3]
    assert life.left == []
    assert 0.3 < life.waited < 2.0


def test_a_rank_that_left_is_not_awaited_for_long(monkeypatch):
    monkeypatch.setattr(_host_barrier, "_LEFT_SECONDS", 0.2)
    life = Life()
    made = exchanges(3, capacity(3, 512), life)
    made[1].leave()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        gather(made[0], 0, [np.ones(5, np.uint8)] * 3)
    assert time.monotonic() - began < 5.0
    assert (life.missing, life.left) == ([1, 2], [1])


def test_a_rank_may_leave_before_the_others_have_read_its_last_blocks():
    made = exchanges(2, capacity(2, 512))
    blocks = [np.full(5, 3, np.uint8), np.full(5, 4, np.uint8)]
    has_left = threading.Event()

    def run(group):
        exchange = made[group.rank]
        if group.rank == 1:
            # It has come to the barrier, and reads what it finds there only much later.
            real = exchange._barrier.wait

            def wait():
                real()
                assert has_left.wait(60)

            exchange._barrier.wait = wait
        found = gather(exchange, group.rank, blocks)
        exchange.leave()
        has_left.set()
        return found

    for found in results(on_threads(2, run)):
        np.testing.assert_array_equal(found, np.concatenate(blocks))


def test_elements_too_large_for_a_piece_are_not_reduced_here():
    exchange = exchanges(2, capacity(2, 1024))[0]
    assert exchange.can_reduce(8, 1 << 30)
    assert exchange.can_reduce(32, 1 << 30)
    assert not exchange.can_reduce(33, 1025)
    assert exchange.can_reduce(33, 1024)

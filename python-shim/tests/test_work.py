"""Asynchronous operations, with a simulated JVM."""

import dataclasses
import gc
import struct
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from spark_collectives import _codes, _frames
from spark_collectives._completions import Completions
from spark_collectives._numbering import Numbering
from spark_collectives._task import Task
from spark_collectives.process_group import ProcessGroup
from spark_collectives.work import Work


class Jvm:
    """A JVM whose work is done once ``done`` is set."""

    def __init__(self):
        self.done = threading.Event()
        self.asked = threading.Event()

    def connection(self):
        return self

    def call(self, request, _patience):
        self.asked.set()
        if request.code == _codes.AWAIT_WORK:
            assert self.done.wait(30)
        elif not self.done.is_set():
            return _frames.Reply(_codes.PENDING, b"")
        return _frames.Reply(_codes.DONE, struct.pack("<i", -1))


@pytest.fixture
def jvm():
    made = Jvm()
    yield made
    made.done.set()


def a_work(jvm, finish=lambda: None, outputs=()):
    staged = SimpleNamespace(finish=finish)
    completions = Completions("test-futures")
    return Work(jvm, lambda work: None, [1], staged, 1000, list(outputs), completions)


def test_a_poll_does_not_wait_for_a_thread_that_waits(jvm):
    work = a_work(jvm)
    waits = threading.Thread(target=work.wait, daemon=True)
    waits.start()
    assert jvm.asked.wait(30)

    answers = []
    asks = threading.Thread(
        target=lambda: answers.extend([work.is_completed(), work.wait(0.01), work.exception()]),
        daemon=True,
    )
    asks.start()
    asks.join(30)
    assert answers == [False, False, None]

    jvm.done.set()
    waits.join(30)
    assert not waits.is_alive()
    assert work.is_completed() and work.wait(0.01) and work.wait()


def test_a_future_has_the_arrays_that_the_operation_writes(jvm):
    array = np.zeros(3)
    work = a_work(jvm, lambda: array.fill(1), [array])
    future = work.get_future()
    assert future is work.get_future()
    assert not future.done()
    with pytest.raises(RuntimeError, match="not done yet"):
        future.value()
    total = future.then(lambda done: int(done.value()[0].sum()))
    failed = total.then(lambda done: 1 / (done.wait() - 3))
    jvm.done.set()
    assert total.wait(30) == 3
    assert future.value()[0] is array and work.result()[0] is array
    with pytest.raises(ZeroDivisionError):
        failed.wait(30)
    assert work.is_success()


def test_a_future_has_the_error_of_its_operation(jvm):
    def fail():
        raise MemoryError("no room")

    work = a_work(jvm, fail)
    jvm.done.set()
    seen = threading.Event()
    future = work.get_future()
    future.add_done_callback(lambda done: seen.set())
    with pytest.raises(MemoryError, match="no room"):
        future.wait(30)
    assert seen.wait(30)
    with pytest.raises(MemoryError, match="no room"):
        work.wait()


def nothing():
    pass


def test_a_callback_may_wait_for_a_later_operation(jvm):
    completions = Completions("test-nested")

    def begun():
        staged = SimpleNamespace(finish=nothing)
        return Work(jvm, nothing_of, [1], staged, 1000, [], completions)

    first, second = begun(), begun()
    total = first.get_future().then(lambda done: second.get_future().wait(30))
    jvm.done.set()
    assert total.wait(30) == []


def nothing_of(work):
    pass


def test_a_future_cannot_be_cancelled_and_those_after_it_are_completed(jvm):
    completions = Completions("test-cancel")
    works = [
        Work(jvm, nothing_of, [i], SimpleNamespace(finish=nothing), 1000, [i], completions)
        for i in (1, 2)
    ]
    futures = [each.get_future() for each in works]
    chained = futures[0].then(lambda done: 7)
    assert not futures[0].cancel() and not chained.cancel()
    jvm.done.set()
    assert [each.wait(30) for each in futures] == [[1], [2]]
    assert chained.wait(30) == 7


def test_to_settle_a_work_is_to_wait_for_the_thread_that_copies_its_result(jvm):
    copies, may_go_on = threading.Event(), threading.Event()

    def copy():
        copies.set()
        assert may_go_on.wait(30)

    work = a_work(jvm, copy)
    work._settle()
    assert not work._done
    jvm.done.set()
    work.get_future()
    assert copies.wait(30)

    seen = []
    settles = threading.Thread(
        target=lambda: (work._settle(), seen.append(work._done)), daemon=True
    )
    settles.start()
    settles.join(0.05)
    assert settles.is_alive()
    may_go_on.set()
    settles.join(30)
    assert seen == [True]


def test_the_error_of_a_work_that_was_dropped_is_logged(jvm, caplog):
    def fail():
        raise MemoryError("no room")

    jvm.done.set()
    dropped = a_work(jvm, fail)
    dropped._settle()
    del dropped
    assert "nobody has waited for has failed: no room" in caplog.text
    caplog.clear()

    waited_for = a_work(jvm, fail)
    with pytest.raises(MemoryError):
        waited_for.wait()
    del waited_for
    gc.collect()
    assert caplog.text == ""


def test_a_wait_ends_when_the_works_before_it_have_their_results(jvm):
    settles, may_go_on, waited = threading.Event(), threading.Event(), threading.Event()

    def ended(work):
        settles.set()
        assert may_go_on.wait(30)

    jvm.done.set()
    staged = SimpleNamespace(finish=nothing)
    work = Work(jvm, ended, [1], staged, 1000, [], Completions("test-before"))
    future = work.get_future()
    assert settles.wait(30)
    assert not work.is_completed() and not work.wait(0.01)
    waiter = threading.Thread(target=lambda: (work.wait(), waited.set()), daemon=True)
    waiter.start()
    assert not waited.wait(0.05)
    may_go_on.set()
    assert waited.wait(30)
    assert future.wait(30) == [] and work.is_completed()


class KeepingJvm(Task):
    """A JVM whose works are done at once; it keeps each one until its end is asked for."""

    is_broken = False

    def __init__(self):
        self.pools = weakref.WeakSet()
        self.pending = weakref.WeakSet()
        self.numbering = Numbering()
        self.can_map = True
        self.joined = None
        self.begun = 0
        self.kept = []
        self.closed = False
        #: Is called when a group is closed.
        self.closes = nothing

    def connection(self):
        return self

    def call(self, request, _patience=0):
        code = request.code
        if code == _codes.CLOSE_GROUP:
            self.closed = True
            self.closes()
        elif code in (_codes.TEST_WORK, _codes.AWAIT_WORK):
            self.kept.remove(struct.unpack("<q", request.body)[0])
            return _frames.Reply(_codes.DONE, struct.pack("<i", -1))
        else:
            assert code == _codes.BARRIER and not self.closed
            self.begun += 1
            self.kept.append(self.begun)
            return _frames.Reply(_codes.DONE, struct.pack("<q", self.kept[-1]))
        return _frames.Reply(_codes.DONE, b"")


def a_group(jvm, id_=0):
    joined = struct.pack("<iiiq", id_, 0, 1, 1000) + _frames.pack_text("g") + _frames.pack_ints([0])
    return ProcessGroup(jvm, _frames.Reply(_codes.DONE, joined))


def test_a_closed_group_leaves_no_work_in_the_jvm():
    jvm = KeepingJvm()
    group = a_group(jvm)
    held = group.barrier(async_op=True)
    # The caller drops this one.
    group.barrier(async_op=True)
    assert len(jvm.kept) == 2

    group.close()
    assert jvm.kept == []
    assert held.wait() and held.is_success()


def test_works_of_a_group_that_was_made_from_one_that_is_closed_have_their_results():
    jvm = KeepingJvm()
    world, subgroup = a_group(jvm), a_group(jvm, 1)
    held = subgroup.barrier(async_op=True)
    # The caller drops this one.
    subgroup.barrier(async_op=True)

    world.close()
    assert jvm.kept == []
    assert held.wait() and held.is_success()


@pytest.mark.parametrize("joined", [True, False])
def test_results_that_are_fetched_from_the_jvm_are_so_before_their_group_is_closed(joined):
    jvm = KeepingJvm()
    jvm.can_map = False
    group, subgroup = a_group(jvm), a_group(jvm, 1)
    jvm.joined = group if joined else None
    for each in (group, subgroup):
        each.barrier(async_op=True)
    kept = []
    jvm.closes = lambda: kept.extend(jvm.kept)

    group.close()
    assert kept == ([] if joined else [2])
    assert jvm.kept == []


class SendingJvm(KeepingJvm):
    """A JVM whose messages end at once, but for the first ones of each group."""

    def __init__(self, slow):
        super().__init__()
        self.slow = slow
        self.asked = 0

    def call(self, request, _patience=0):
        code = request.code
        if code == _codes.ALLOCATE:
            return _frames.Reply(_codes.DONE, struct.pack("<i", 1))
        if code == _codes.WRITE:
            return _frames.Reply(_codes.DONE, b"")
        self.asked += code == _codes.TEST_WORK
        if code == _codes.TEST_WORK and struct.unpack("<q", request.body)[0] <= self.slow:
            return _frames.Reply(_codes.PENDING, b"")
        if code == _codes.SEND:
            request = dataclasses.replace(request, code=_codes.BARRIER)
        return super().call(request)


class ReducingJvm(KeepingJvm):
    """A JVM whose collectives end when some more have begun."""

    def __init__(self, behind):
        super().__init__()
        self.can_map = False
        self.behind = behind
        self.asked = self.allocated = 0

    def call(self, request, _patience=0):
        code = request.code
        if code == _codes.ALLOCATE:
            self.allocated += 1
            return _frames.Reply(_codes.DONE, struct.pack("<i", self.allocated))
        if code == _codes.WRITE:
            return _frames.Reply(_codes.DONE, b"")
        if code == _codes.READ:
            return _frames.Reply(_codes.DONE, _frames.pack_bytes(bytes(64)))
        if code == _codes.TEST_WORK:
            self.asked += 1
            if struct.unpack("<q", request.body)[0] > self.begun - self.behind:
                return _frames.Reply(_codes.PENDING, b"")
        if code == _codes.ALL_REDUCE:
            request = dataclasses.replace(request, code=_codes.BARRIER)
        return super().call(request)


@pytest.mark.parametrize("behind", [1, 100])
def test_collectives_that_nobody_waits_for_do_not_add_up(behind):
    jvm = ReducingJvm(behind)
    group = a_group(jvm)
    for _ in range(1000):
        group.all_reduce(np.ones(8), async_op=True)
    assert len(jvm.kept) <= 2 * behind + 32
    assert jvm.allocated <= 2 * behind + 32
    assert jvm.asked < 3000


@pytest.mark.parametrize("slow", [0, 100])
def test_messages_that_nobody_asks_for_do_not_add_up(slow):
    jvm = SendingJvm(slow)
    jvm.can_map = False
    group = a_group(jvm)
    array = np.ones(4)
    for _ in range(1000):
        group.send(array, 0, async_op=True)
        assert len(group._operations.pending) <= 2 * slow + 32
    assert len(jvm.kept) <= 2 * slow + 32
    assert jvm.asked < 3000


class RefusingJvm(SendingJvm):
    """A JVM that refuses checkpoints, and has memory for some segments."""

    def __init__(self, room):
        super().__init__(0)
        self.can_map = False
        self.store_wait = 1.0
        self.room = room

    def call(self, request, _patience=0):
        request.encode()
        code = request.code
        if code in (_codes.CHECKPOINT, _codes.RESTORE):
            raise ValueError("refused")
        if code == _codes.ALLOCATE:
            self.room -= 1
            if self.room < 0:
                raise MemoryError("no room")
        return super().call(request)


@pytest.mark.parametrize(
    "call, error, why",
    [
        (lambda group, array: group.send(array, 0, 1 << 31), ValueError, "tag must be from 0 to"),
        (
            lambda group, array: group.batch([(True, array, 0, 1 << 31)]),
            ValueError,
            "tag must be from 0 to",
        ),
        (
            lambda group, array: group.batch([(True, array, 0, 0)] * 2),
            MemoryError,
            "no room",
        ),
        (lambda group, array: group.checkpoint("a", [array]), ValueError, "refused"),
        (lambda group, array: group.restore("a", [array]), ValueError, "refused"),
    ],
)
def test_the_memory_of_an_operation_that_has_not_begun_is_used_again(call, error, why):
    group = a_group(RefusingJvm(room=1))
    for _ in range(3):
        with pytest.raises(error, match=why):
            call(group, np.ones(4))
    group.send(np.ones(4), 0, async_op=True)

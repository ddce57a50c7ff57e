"""The threads that complete the futures of works, without works."""

import threading
import weakref

import pytest

from spark_collectives import _completions
from spark_collectives._completions import Completions


def nothing():
    pass


@pytest.mark.parametrize("in_order", [True, False])
def test_futures_are_completed_by_threads_that_end_and_start_again(monkeypatch, in_order):
    monkeypatch.setattr(_completions, "_LINGER_SECONDS", 0.01)
    monkeypatch.setattr(_completions, "_PATIENCE_SECONDS", 0.01)
    completions = Completions("test-completions", in_order)
    for _ in range(3):
        called = threading.Event()
        completions.add(nothing, called.set)
        assert called.wait(30)
        for thread in threading.enumerate():
            if thread.name == "test-completions":
                thread.join(30)
                assert not thread.is_alive()


@pytest.mark.parametrize("in_order", [True, False])
def test_the_threads_of_futures_are_used_again(in_order):
    completions = Completions("test-used-again", in_order)
    threads = []
    for _ in range(20):
        called = threading.Event()
        completions.add(nothing, lambda: threads.append(threading.current_thread()))
        completions.add(nothing, called.set)
        assert called.wait(30)
    # A slow machine starts one where the last has not come to rest yet, but not for every work.
    assert len(set(threads)) < len(threads)


def test_callbacks_run_one_after_the_other_in_the_order_of_their_works():
    completions = Completions("test-order")
    seen, last = [], threading.Event()
    for i in range(300):
        completions.add(nothing, lambda i=i: seen.append(i))
    completions.add(nothing, last.set)
    assert last.wait(30)
    assert seen == list(range(300))


def test_a_callback_that_waits_for_a_later_work_is_overtaken(monkeypatch):
    monkeypatch.setattr(_completions, "_PATIENCE_SECONDS", 0.01)
    completions = Completions("test-overtaken")
    waited, last = [], threading.Event()

    def complete(i):
        if i == 9:
            last.set()
        assert last.wait(30)

    for i in range(10):
        completions.add(lambda i=i: waited.append(i), lambda i=i: complete(i))
    assert last.wait(30)
    assert waited == list(range(10))


def test_a_thread_that_cannot_start_leaves_the_futures_after_it_theirs(monkeypatch):
    completions = Completions("test-start")

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            completions.add(nothing, nothing)
    called = threading.Event()
    completions.add(nothing, called.set)
    assert called.wait(30)


@pytest.mark.parametrize("in_order", [True, False])
def test_a_work_is_freed_when_its_future_is_done(in_order):
    completions = Completions("test-freed", in_order)
    called = threading.Event()

    class Held:
        def complete(self):
            pass

    held = Held()
    freed = weakref.ref(held, lambda _: called.set())
    completions.add(nothing, held.complete)
    del held
    done = threading.Event()
    completions.add(nothing, done.set)
    assert done.wait(30) and called.wait(30)
    assert freed() is None


@pytest.mark.parametrize("in_order", [True, False])
def test_a_callback_that_ends_its_thread_leaves_the_others_theirs(monkeypatch, in_order):
    told = []
    monkeypatch.setattr(threading, "excepthook", lambda args: told.append(args.exc_type))
    completions = Completions("test-exit", in_order)

    def leave():
        raise SystemExit(3)

    called = threading.Event()
    completions.add(nothing, leave)
    completions.add(nothing, called.set)
    assert called.wait(30)
    done = threading.Event()
    completions.add(nothing, done.set)
    assert done.wait(30)
    assert told == [SystemExit]

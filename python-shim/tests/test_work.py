"""Operations under way, with a JVM that answers when it is told to."""

import struct
import threading
from types import SimpleNamespace

import pytest

from spark_collectives import _codes, _frames
from spark_collectives.work import Work


class Jvm:
    """Answers that the work is done, once ``done`` is set."""

    def __init__(self):
        self.done = threading.Event()
        self.asked = threading.Event()

    def connection(self):
        return self

    def call(self, code, **_):
        self.asked.set()
        if code == _codes.AWAIT_WORK:
            assert self.done.wait(30)
        elif not self.done.is_set():
            return _frames.Reply(_codes.PENDING, b"")
        return _frames.Reply(_codes.DONE, struct.pack("<i", -1))


@pytest.fixture
def jvm():
    made = Jvm()
    yield made
    made.done.set()


def test_who_asks_does_not_wait_for_who_waits(jvm):
    work = Work(jvm, [], [1], SimpleNamespace(finish=lambda: None), 1000)
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

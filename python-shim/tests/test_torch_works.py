"""The works of torch's operations, without ranks."""

import gc
from datetime import timedelta
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch

from spark_collectives import _arrays
from spark_collectives._completions import Completions
from spark_collectives.torch import SparkWork
from spark_collectives.torch.mixed_barrier import MixedBarrier


class _Succeeded:
    """A work of the library that has succeeded."""

    _succeeded = True

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True

    def is_success(self):
        return True

    def exception(self):
        return None

    def _when_known(self, call):
        call()

    def _leave_error(self):
        pass


def _work_whose_copy_fails():
    def copy_back():
        raise RuntimeError("the device has no memory")

    return SparkWork([_Succeeded()], [], Completions("test"), "allreduce", after=copy_back)


def test_a_copy_to_the_device_that_fails_fails_the_work_for_whoever_asks():
    work = _work_whose_copy_fails()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no memory"):
            work.wait()
    assert work.is_completed() and not work.is_success()
    assert "no memory" in str(work.exception())


def test_to_ask_whether_a_work_is_completed_raises_nothing():
    work = _work_whose_copy_fails()
    assert work.is_completed()
    assert not work.is_success()
    with pytest.raises(RuntimeError, match="no memory"):
        work.wait()


def test_a_future_has_the_error_of_a_copy():
    work = _work_whose_copy_fails()
    with pytest.raises(RuntimeError, match="no memory"):
        work.get_future().wait()
    assert "no memory" in str(work.exception())


def test_the_error_of_a_copy_is_logged_if_the_work_was_dropped(caplog):
    work = _work_whose_copy_fails()
    del work
    assert "nobody has waited for has failed" in caplog.text
    assert "the device has no memory" in caplog.text
    caplog.clear()

    waited_for, asked = _work_whose_copy_fails(), _work_whose_copy_fails()
    with pytest.raises(RuntimeError, match="no memory"):
        waited_for.wait()
    assert asked.exception() is not None
    with pytest.raises(RuntimeError, match="no memory"):
        _work_whose_copy_fails().get_future().wait()
    del waited_for, asked
    gc.collect()
    assert caplog.text == ""


class _Message(_Succeeded):
    """A message of the library that counts how often its end was asked for."""

    def __init__(self):
        self.asked = 0

    def _settle(self):
        self.asked += 1


@pytest.mark.parametrize(
    "end",
    [
        lambda barrier: barrier.wait(),
        lambda barrier: barrier.wait(timedelta(seconds=30)),
        lambda barrier: barrier.synchronize(),
        lambda barrier: barrier.is_completed(),
    ],
)
def test_a_barrier_of_another_backend_delivers_the_messages_that_have_come(end):
    barrier_of_other = SimpleNamespace(
        wait=lambda *_: True, synchronize=lambda: None, is_completed=lambda: True
    )
    message = _Message()
    barrier = MixedBarrier(barrier_of_other, [], [message])
    assert message.asked == 0
    end(barrier)
    assert message.asked == 1

    barrier_of_other.wait = barrier_of_other.is_completed = lambda *_: False
    assert not barrier.wait() and not barrier.is_completed()
    assert message.asked == 1


def test_an_array_on_a_tensor_keeps_its_memory_when_the_tensor_gets_other_memory():
    # So large that the memory is unmapped when it is freed.
    tensor = torch.ones(16 << 20)
    array = _arrays.view_of(tensor).array
    tensor.data = torch.zeros(3)
    _arrays.require_memory(array.reshape(-1)[5:])
    array.fill(2)
    assert array[-1] == 2 and tensor.tolist() == [0, 0, 0]


def test_an_array_on_a_tensor_whose_storage_was_resized_is_refused():
    tensor = torch.ones(1000)
    array = _arrays.view_of(tensor).array
    _arrays.require_memory(array)
    tensor.resize_(100)
    _arrays.require_memory(array)
    for count in (0, 400):
        tensor.untyped_storage().resize_(count)
        with pytest.raises(RuntimeError, match=r"1000 elements .* was resized while"):
            _arrays.require_memory(array)

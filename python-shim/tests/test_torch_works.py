"""The works of torch's operations, without ranks."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

from spark_collectives._completions import Completions
from spark_collectives.torch import SparkWork


class _Succeeded:
    """A work of the library that has succeeded."""

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True

    def is_success(self):
        return True

    def exception(self):
        return None

    def when_known(self, call):
        call()


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

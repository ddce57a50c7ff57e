"""What the summary of a failed build says of an error that a rank has raised."""

import pytest

from conftest import error_of_worker

TRACEBACK = """Job aborted: Lost task 0.0: PythonException: \
Traceback (most recent call last):
  File "worker.py", line 1240, in main
    process()
  File "test.py", line 4, in f
    raise RuntimeError("Connection closed\\nby peer")
RuntimeError: Connection closed
by peer
"""


@pytest.mark.parametrize("end", ["\n\tat org.apache.spark.X\n\tat Y", " SQLSTATE: 38000\n\tat X"])
def test_the_error_of_a_rank_is_found_below_the_frames_of_its_stack(end):
    assert error_of_worker(TRACEBACK + end) == "RuntimeError: Connection closed\nby peer"


def test_an_error_of_no_rank_is_none():
    assert error_of_worker("Job aborted: Executor 1 was lost\n\tat org.apache.spark.X") is None

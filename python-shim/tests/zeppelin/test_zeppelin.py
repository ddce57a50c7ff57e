"""Cells in Zeppelin's own interpreter: the note trains, draws, is cancelled, and runs again."""

import os
import signal
import subprocess
import sys

import pytest

from processes import SECONDS, eventually
from test_examples import paragraphs
from zeppelin.interpreter import Interpreter

SESSION = """
import os

import numpy as np
import spark_collectives as dist
from pyspark.sql import SparkSession

spark = dist.configure(SparkSession.builder.master("local[4]")).getOrCreate()


def add_up():
    ones = np.ones(2)
    dist.all_reduce(ones)
    return ones.tolist()


def loop():
    for step in range(1 << 60):
        add_up()
        if step == 100 and dist.get_rank() == 0:
            open(os.environ["READY"], "w").close()
"""

JOBS = "spark.sparkContext.statusTracker().getActiveJobsIds()"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    for package in ("torch", "matplotlib", "IPython", "ipykernel", "jupyter_client", "grpc"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    cells = {"session": SESSION}
    for number, code in enumerate(paragraphs("%spark.ipyspark")):
        cells[f"note_{number}"] = code
    cells["cancelled"] = "dist.run(loop, 4)"
    cells["again"] = f"print('again', dist.run(add_up, 4), {JOBS})"
    return Interpreter(tmp_path_factory.mktemp("zeppelin")).results(cells)


def note(results):
    return "\n".join(result.output for name, result in results.items() if name.startswith("note"))


def test_the_note_trains_and_draws(results):
    failed = {name: each.output for name, each in results.items() if each.code != "SUCCESS"}
    assert failed.keys() == {"cancelled"}, failed
    assert note(results).count("[rank 0] epoch 12: loss") == 1
    assert note(results).count("IMG: ") == 1


def test_progress_is_in_lines(results):
    assert note(results).count("12 of 12 steps, loss=") == 1
    assert "HTML: " not in note(results) and "\r" not in note(results)


def test_a_cell_is_cancelled_in_the_middle_of_an_all_reduce(results):
    assert results["cancelled"].code == "ERROR"
    assert "KeyboardInterrupt" in results["cancelled"].output
    # Some seconds; a busy machine takes longer.
    assert results["cancelled"].seconds < 60


def test_the_next_cell_finds_no_job_and_runs_ranks(results):
    assert f"again {[[4.0, 4.0]] * 4} []" in results["again"].output


#: Zeppelin without IPython: streams with two methods.
PLAIN = f"""
import sys


class Logger:
    def __init__(self, out):
        self.write, self.flush = out.write, out.flush


sys.stdout, sys.stderr = Logger(sys.stdout), Logger(sys.stderr)
{SESSION}
try:
    dist.run(loop, 4)
except KeyboardInterrupt:
    print("interrupted")
print("again", dist.run(add_up, 4), {JOBS})
"""


def test_without_ipython_a_cell_is_cancelled_and_the_next_one_runs(tmp_path):
    program, ready = tmp_path / "program.py", tmp_path / "ready"
    program.write_text(PLAIN, "utf-8")
    process = subprocess.Popen(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env={
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_SUBMIT_ARGS": "--conf spark.ui.enabled=false pyspark-shell",
            "ZEPPELIN_HOME": str(tmp_path),
            "READY": str(ready),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        eventually(
            lambda: "the ranks have not begun",
            SECONDS,
            lambda: ready.exists() or process.poll() is not None,
        )
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=SECONDS)[0]
    finally:
        process.kill()
    assert process.returncode == 0, output[-5000:]
    assert "interrupted\n" in output
    assert f"again {[[4.0, 4.0]] * 4} []" in output

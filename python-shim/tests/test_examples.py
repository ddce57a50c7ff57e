"""The programs and notebooks of examples/ run, and learn something."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import spark_collectives

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

pytestmark = pytest.mark.skipif(
    not (EXAMPLES / "python").is_dir(), reason="the examples are not in a source distribution"
)


def run(command, folder, **more):
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        **more,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


@pytest.fixture
def program(spark, monkeypatch, capsys):
    """Run a program with two ranks, in the session of the tests; return the driver's output."""
    monkeypatch.syspath_prepend(str(EXAMPLES / "python"))
    import digits

    class Session:
        def __getattr__(self, name):
            return getattr(spark, name)

        def stop(self):
            pass

    monkeypatch.setattr(digits, "session", lambda master: Session())

    def run_in_session(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, "--ranks", "2", *arguments])
        runpy.run_path(str(EXAMPLES / "python" / name), run_name="__main__")
        return capsys.readouterr().out

    return run_in_session


def percentage(output):
    return float(re.search(r": ([\d.]+)%$", output, re.MULTILINE).group(1))


def test_the_network_learns_digits(program):
    pytest.importorskip("torch", reason="torch is not installed")
    assert percentage(program("train_network.py", "--epochs", "6")) > 90


def test_k_means_finds_digits(program):
    assert percentage(program("k_means.py")) > 60


def test_logistic_regression_learns_digits_in_a_session_of_its_own():
    path = str(EXAMPLES / "python" / "logistic_regression.py")
    arguments = ["--master", "local[2]", "--ranks", "2", "--steps", "100"]
    output = run([sys.executable, path, *arguments], EXAMPLES)
    losses = [float(each) for each in re.findall(r"loss ([\d.]+)", output)]
    assert len(losses) > 2
    assert losses[-1] < losses[0] / 3
    assert percentage(output) > 90


def test_both_backends_are_timed(program):
    pytest.importorskip("torch", reason="torch is not installed")
    arguments = ["--rounds", "1", "--seconds", "0.01", "--sizes", "1024", "65536"]
    output = program("compare_with_gloo.py", *arguments)
    rows = [line.split() for line in output.splitlines() if re.match(r" +[\d,]+ ", line)]
    assert [row[0] for row in rows] == ["1,024", "65,536"]
    assert all(float(value) > 0 for row in rows for value in row[1:])


@pytest.fixture
def convert(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES / "notebooks"))
    import convert

    return convert


def test_notebooks_are_as_new_as_their_sources(convert):
    for name, text in convert.converted().items():
        written = (EXAMPLES / "notebooks" / name).read_text("utf-8")
        assert written == text, f"{name}: run examples/notebooks/convert.py"


def test_the_notebook_of_jupyter_runs_and_draws_its_curve(monkeypatch):
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    folder = EXAMPLES / "notebooks"
    notebook = nbformat.read(folder / "digits.ipynb", as_version=4)
    # The notebook has its own session, whose workers are forked with torch imported.
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))
    conf = "--conf spark.python.daemon.module=preloading_daemon --conf spark.ui.enabled=false"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{conf} pyspark-shell")
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    printed = "".join(each.get("text", "") for each in outputs)
    assert "[rank 0] epoch 12: loss" in printed
    assert any("image/png" in each.get("data", {}) for each in outputs)


def test_the_notebook_in_scala_runs(convert, tmp_path):
    import pyspark

    shell = Path(pyspark.__file__).parent / "bin" / "spark-shell"
    code = [
        source
        for text, source in convert.cells(EXAMPLES / "notebooks" / "digits.scala")
        if not text
    ]
    # Databricks defines this function. The shell compiles one paste much faster than single lines.
    display = 'def displayHTML(html: String): Unit = println("drawn: " + html)'
    pasted = tmp_path / "cells.scala"
    pasted.write_text("\n".join([display, *code]), "utf-8")
    output = run(
        [
            str(shell),
            "--master",
            "local[4]",
            "--jars",
            spark_collectives.jar_path(),
            "--conf",
            "spark.plugins=org.sparkcollectives.spark.CollectivesPlugin",
            "--conf",
            "spark.ui.enabled=false",
        ],
        EXAMPLES / "notebooks",
        input=f":paste {pasted}\n:quit\n",
    )
    first, last = map(
        float, re.search(r"loss ([\d.]+) in the first step, ([\d.]+)", output).groups()
    )
    assert last < first / 2
    assert "drawn: <svg" in output

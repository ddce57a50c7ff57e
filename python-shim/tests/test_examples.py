"""The programs and notebooks of examples/ run, and learn something."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import spark_collectives
import spark_collectives.ml

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


@pytest.mark.parity
def test_lightgbm_tells_tumours_apart(program):
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    output = program("lightgbm_tumours.py", "--rounds", "15")
    assert percentage(output) > 90


@pytest.mark.parity
def test_lightgbm_is_timed_beside_its_sockets():
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    path = str(EXAMPLES / "python" / "lightgbm_ranks.py")
    arguments = ["--master", "local[2]", "--repetitions", "2", "--cases", "small"]
    output = run([sys.executable, path, *arguments], EXAMPLES)
    rows = [line.split("|")[1:-1] for line in output.splitlines() if line.startswith("| small")]
    assert [row[1].strip() for row in rows] == ["sockets", "group", "group, shared bins"]
    assert all(float(row[2]) > 0 for row in rows)


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


def test_the_installed_package_learns_digits_without_the_repository(tmp_path):
    module = [sys.executable, "-m", "spark_collectives.examples.digits"]
    output = run([*module, "--master", "local[2]", "--ranks", "2", "--steps", "100"], tmp_path)
    assert percentage(output) > 90


@pytest.mark.parity
def test_replicas_learn_digits_while_their_executors_are_killed(tmp_path):
    module = [sys.executable, "-m", "spark_collectives.examples.digits", "--elastic"]
    cluster = ["--master", "local-cluster[2,1,1024]", "--ranks", "2"]
    output = run([*module, *cluster, "--steps", "2000", "--kill-every", "1"], tmp_path)
    assert percentage(output) > 90


@pytest.mark.parity
def test_a_pipeline_of_spark_ml_learns_digits(program):
    assert percentage(program("spark_ml.py", "--iterations", "15")) > 90


@pytest.mark.parity
def test_a_pipeline_of_spark_ml_in_java_learns_digits(tmp_path):
    import pyspark

    home = Path(pyspark.__file__).parent
    package = "org.sparkcollectives.examples.ml"
    source = EXAMPLES / "src/main/java" / package.replace(".", "/") / "DigitsPipeline.java"
    jars = [spark_collectives.jar_path(), spark_collectives.ml.jar_path()]
    path = os.pathsep.join([f"{home}/jars/*", *jars])
    run(["javac", "-proc:none", "-cp", path, "-d", str(tmp_path), str(source)], tmp_path)
    run(["jar", "--create", "--file", "program.jar", "-C", str(tmp_path), "org"], tmp_path)
    command = [
        str(home / "bin/spark-submit"),
        *("--master", "local[2]"),
        *("--jars", ",".join(jars)),
        *("--conf", "spark.plugins=org.sparkcollectives.spark.CollectivesPlugin"),
        *("--conf", "spark.ui.enabled=false"),
        *("--class", f"{package}.DigitsPipeline"),
        "program.jar",
        str(EXAMPLES / "data" / "digits.csv"),
    ]
    output = run(command, tmp_path)
    first, last = map(float, re.search(r"loss ([\d.]+), then ([\d.]+) after", output).groups())
    assert last < first / 3
    assert percentage(output) > 90


def test_both_backends_are_timed(program):
    pytest.importorskip("torch", reason="torch is not installed")
    arguments = ["--rounds", "1", "--seconds", "0.01", "--warmup", "0.1"]
    output = program("compare_with_gloo.py", *arguments, "--sizes", "1024", "65536")
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


def executed(notebook, folder, monkeypatch):
    """Execute a notebook; return what it printed, whether it has drawn a picture, and its bars."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
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
    shown = [each["data"] for each in outputs if "data" in each]
    bars = [data["text/plain"] for data in shown if "<progress " in data.get("text/html", "")]
    return printed, any("image/png" in data for data in shown), bars


def executed_by_jupyter(name, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    folder = EXAMPLES / "notebooks"
    return executed(nbformat.read(folder / name, as_version=4), folder, monkeypatch)


@pytest.mark.parametrize(
    ("name", "package", "text", "progress"),
    [
        ("digits.ipynb", "torch", "[rank 0] epoch 12: loss", r"12 of 12 steps, loss=0\.\d+"),
        pytest.param(
            "lightgbm_tumours.ipynb", "lightgbm", "best round ", None, marks=pytest.mark.parity
        ),
    ],
)
def test_the_notebooks_of_jupyter_run_and_draw_their_curves(
    monkeypatch, name, package, text, progress
):
    pytest.importorskip(package, reason=f"{package} is not installed")
    printed, drawn, bars = executed_by_jupyter(name, monkeypatch)
    assert text in printed
    assert drawn
    assert len(bars) == (progress is not None)
    assert all(re.fullmatch(progress, bar) for bar in bars)


@pytest.mark.parity
def test_the_notebook_with_spark_ml_runs_and_draws_the_times(monkeypatch):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    printed, drawn, _ = executed_by_jupyter("spark_ml.ipynb", monkeypatch)
    assert float(re.search(r"accuracy ([\d.]+), with both: True", printed).group(1)) > 0.95
    assert drawn


def paragraphs(interpreter):
    """Return the code of the Zeppelin note that an interpreter runs."""
    note = json.loads((EXAMPLES / "notebooks" / "digits.zpln").read_text("utf-8"))
    texts = [each["text"].split("\n", 1) for each in note["paragraphs"]]
    return [code.strip() for name, code in texts if name == interpreter]


def test_the_python_paragraphs_run_in_zeppelins_kernel_and_draw_their_curve(monkeypatch, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    # Zeppelin makes the session, sets a backend without a screen, and runs in a folder of its own.
    session = """import spark_collectives
from pyspark.sql import SparkSession
spark = spark_collectives.configure(SparkSession.builder.master("local[4]")).getOrCreate()"""
    monkeypatch.setenv("ZEPPELIN_HOME", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    cells = [nbformat.v4.new_code_cell(code) for code in [session, *paragraphs("%spark.ipyspark")]]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    printed, drawn, bars = executed(notebook, tmp_path, monkeypatch)
    assert printed.count("[rank 0] epoch 12: loss") == 1
    # It can neither replace what is displayed nor redraw a line.
    assert printed.count("12 of 12 steps, loss=") == 1
    assert "\r" not in printed and not bars
    assert drawn


def test_the_scala_paragraphs_run_and_print_html(tmp_path):
    import pyspark

    shell = Path(pyspark.__file__).parent / "bin" / "spark-shell"
    # In one paste the shell compiles them much faster; the last one has the HTML for itself.
    *code, display = paragraphs("%spark")
    pasted = [tmp_path / "others.scala", tmp_path / "display.scala"]
    pasted[0].write_text("\n".join(code), "utf-8")
    pasted[1].write_text(display, "utf-8")
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
            "--conf",
            f"spark.digits.csv=file://{EXAMPLES}/data/digits.csv",
        ],
        tmp_path,
        input="".join(f":paste {file}\n" for file in pasted) + ":quit\n",
    )
    first, last = map(
        float, re.search(r"loss ([\d.]+) in the first step, ([\d.]+)", output).groups()
    )
    assert last < first / 2
    _, _, shown = output.partition(f"Pasting file {pasted[1]}...\n")
    html, _, rest = shown.partition("</svg>\n")
    # Nothing of the shell's is within the HTML but its remark on the paste.
    assert re.match(r"(//.*\n|\s)*%html <svg [^%]+$", html), shown
    assert re.match(r"\s*(scala>|$)", rest), shown


@pytest.mark.parity
def test_the_latency_of_small_calls_is_printed_by_size_operation_and_kind_of_array(program):
    arguments = ["--rounds", "1", "--repeats", "5", "--warmup", "4", "--sizes", "48", "80000"]
    output = program("call_latency.py", *arguments)
    rows = re.findall(r"^ +([\d,]+) (\S+) +((?: +\d+ \(\d+\)){6})$", output, re.MULTILINE)
    kinds = ["numpy", "group.zeros"]
    assert [row[:2] for row in rows] == [
        (size, kind) for size in ("48", "80,000") for kind in kinds
    ]
    assert all(int(value) > 0 for row in rows for value in re.findall(r"\d+", row[2]))

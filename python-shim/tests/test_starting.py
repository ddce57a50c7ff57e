"""The ways in which users start Spark, and the tables that name them and their tests.

One of them runs in each build, the others with ``-m starting``.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import spark_collectives as dist
from samples import ROOT
from spark_collectives import session

PAGE = ROOT / "docs" / "get-started" / "install.md"
MATRIX = ROOT / "docs" / "reference" / "support-matrix.md"
TESTS = Path(__file__).parent
PACKAGE = Path(dist.__file__).parent
SECONDS = 300

#: What ranks do. On executors it is only there if it was shipped.
RANKS = """
import numpy as np

import spark_collectives as dist

def add_up():
    numbers = np.arange(3.0) + dist.get_rank()
    dist.all_reduce(numbers)
    return numbers.tolist()

def place():
    return dist.__file__
"""

PROGRAM = """
import ranks
import spark_collectives as dist
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
print("sums:", dist.run(ranks.add_up, 2))
print("package:", *dist.run(ranks.place, 2, stream=False))
spark.stop()
"""

SUMS = [[1.0, 3.0, 5.0]] * 2


@pytest.fixture(scope="module")
def home():
    import pyspark

    return Path(pyspark.__file__).parent


@pytest.fixture
def start(home, tmp_path):
    """Run a program of Spark's, with the jar and the plugin; return its output."""

    def run(program, *arguments, jar=True, fails=False, read="", **variables):
        command = [str(home / "bin" / program), "--conf", "spark.ui.enabled=false"]
        command += ["--conf", f"spark.plugins={session.PLUGIN}"]
        # A busy machine takes long to start executors.
        command += ["--conf", "spark.collectives.preflight.timeout=5min"]
        if jar:
            command += ["--jars", dist.jar_path()]
        done = subprocess.run(
            [*command, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **variables},
            input=read,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
        assert (done.returncode != 0) == fails, done.stdout[-5000:]
        return done.stdout

    return run


@pytest.fixture
def program(tmp_path):
    """Write the program, and the module of its ranks, where only the driver finds it."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "ranks.py").write_text(RANKS)
    path = folder / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def python(tmp_path):
    """Make an environment with numpy and without the package; return its folder."""
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    for name in ("numpy", "numpy.libs"):
        installed = Path(np.__file__).parents[1] / name
        if installed.exists():
            (packages(folder) / name).symlink_to(installed)
    return folder


def packages(environment):
    (folder,) = environment.glob("lib/python*/site-packages")
    return folder


def printed(output, name):
    return re.search(rf"^{name}: (.*)$", output, re.MULTILINE).group(1)


@pytest.mark.starting
def test_spark_submit_ships_the_package_by_py_files(start, program, python, tmp_path):
    shipped = tmp_path / "package.zip"
    with zipfile.ZipFile(shipped, "w") as file:
        for path in PACKAGE.rglob("*.py"):
            file.write(path, path.relative_to(PACKAGE.parent))
    output = start(
        "spark-submit",
        *("--master", "local[2]"),
        *("--py-files", f"{shipped},{program.with_name('ranks.py')}"),
        program,
        PYSPARK_PYTHON=str(python / "bin" / "python"),
    )
    assert json.loads(printed(output, "sums")) == SUMS
    assert all("package.zip" in place for place in printed(output, "package").split())


@pytest.mark.starting
def test_spark_submit_ships_an_environment_by_archives(start, program, python, tmp_path):
    shutil.copytree(
        PACKAGE, packages(python) / PACKAGE.name, ignore=shutil.ignore_patterns("*.jar")
    )
    shutil.copy(program.with_name("ranks.py"), packages(python))
    archive = tmp_path / "environment.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(python, ".")
    shutil.rmtree(python)
    output = start(
        "spark-submit",
        *("--master", "local-cluster[1,2,1024]"),
        *("--archives", f"{archive}#shipped"),
        program,
        PYSPARK_PYTHON="./shipped/bin/python",
        PYSPARK_DRIVER_PYTHON=sys.executable,
    )
    assert json.loads(printed(output, "sums")) == SUMS
    assert all("/shipped/lib/" in place for place in printed(output, "package").split())


@pytest.mark.starting
def test_the_shell_of_pyspark_runs_ranks(start):
    # It reads what a user types, and -i lets it do so without a terminal.
    typed = f"{RANKS}\nprint('sums:', dist.run(add_up, 2))\n"
    output = start("pyspark", "--master", "local[2]", read=typed, PYSPARK_DRIVER_PYTHON_OPTS="-i")
    assert f"sums: {SUMS}" in output


@pytest.mark.starting
def test_spark_sql_begins_with_the_plugin_for_which_add_jar_comes_too_late(start):
    local = ("--master", "local[2]")
    assert session.PLUGIN in start("spark-sql", *local, "-e", "SET spark.plugins")
    added = f"ADD JAR '{dist.jar_path()}'"
    output = start("spark-sql", *local, "-e", added, jar=False, fails=True)
    assert f"ClassNotFoundException: {session.PLUGIN}" in output


def until(condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_client_of_spark_connect_runs_ranks_and_interrupts_them(spark, connect_client):
    active = spark.sparkContext.statusTracker().getActiveJobsIds
    client = connect_client("connect_ranks.py")
    line = client.stdout.readline()
    assert line, client.communicate()[1][-5000:]
    found = json.loads(line)
    assert found["sums"] == [[10.0, 30.0, 50.0]] * 2
    assert found["totals"] == [28, 28]
    assert "no such shard" in found["failure"]
    assert "Spark Connect" in found["stream"]
    until(active)
    client.send_signal(signal.SIGINT)
    rest, errors = client.communicate(timeout=SECONDS)
    assert client.returncode == 0, errors[-5000:]
    assert rest == "interrupted\n"
    until(lambda: not active())


def rows(page, section):
    """Return the rows of the table of a section, each a list of cells."""
    text = page.read_text("utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


WAYS = {row[0]: row[-1] for row in rows(PAGE, "Ways to start Spark")}
ENVIRONMENTS = {row[0]: row[-1] for row in rows(MATRIX, "Environments")}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_is_an_environment_or_is_marked(way):
    # Of a command, the program and its first argument.
    name = re.match(r"`?([\w-]+(?: [\w.-]+)?)", way)[1]
    commands = [command for each, command in ENVIRONMENTS.items() if name in each]
    assert commands, f"no environment has {name}"
    assert WAYS[way] == "not run" or all(commands)


@pytest.mark.parametrize("command", [each for each in ENVIRONMENTS.values() if each])
def test_the_command_of_an_environment_names_tests(command):
    suites = re.findall(r"-Dit\.test=(\w+)", command)
    given = re.findall(r"python-shim/test (.*)`$", command)
    assert len(suites) + len(given) == 1
    for suite in suites:
        assert list((ROOT / "spark-plugin/suite/src").rglob(f"{suite}.scala"))
    for words in given:
        named = [ROOT / "python-shim" / each for each in re.findall(r"tests/\w+\.py", words)]
        texts = [f"{path}\n{path.read_text()}" for path in named or TESTS.rglob("*.py")]
        for mark in re.findall(r"-m (\w+)", words):
            assert any(re.search(rf"pytest\.mark\.{mark}\b", text) for text in texts), mark
        for one, several in re.findall(r'-k (?:(\w+)|"(.+?)")', words):
            wanted = [one] if one else several.split(" and ")
            assert any(all(word in text for word in wanted) for text in texts), wanted

"""Zeppelin's IPython interpreter, made of its published artifacts, without a server."""

import os
import re
import shlex
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

from processes import run
from samples import samples

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


class Result(NamedTuple):
    """What Zeppelin keeps of a cell."""

    code: str
    #: Since the cell began, or since it was cancelled.
    seconds: float
    #: Each part begins with its type, such as "TEXT: ".
    output: str


def python_of_the_page(folder):
    """Make an environment with the page's packages beside those of this one; return its Python."""
    environment = folder / "environment"
    run(sys.executable, "-m", "venv", environment, cwd=folder)
    python = environment / "bin" / "python"
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib"))
    (sample,) = (each for each in samples("docs/get-started/notebooks.md", "sh"))
    program, *words = shlex.split(sample.code)
    assert program == "pip"
    run(python, "-m", "pip", *words, cwd=folder)
    return python


class Interpreter:
    def __init__(self, folder):
        import pyspark

        self._folder = folder
        path = folder / "classpath"
        goal = ("dependency:build-classpath", f"-Dmdep.outputFile={path}")
        run(ROOT / "mvnw", "-q", "-f", HERE / "pom.xml", *goal, cwd=ROOT)
        py4j = f"{Path(pyspark.__file__).parent}/jars/*"
        self._classpath = os.pathsep.join([path.read_text().strip(), py4j])
        self._python = python_of_the_page(folder)

    def results(self, cells):
        """Run cells, each the code by its name; return the results by name."""
        files = []
        for name, code in cells.items():
            files.append(self._folder / f"{name}.py")
            files[-1].write_text(code, "utf-8")
        ready = self._folder / "ready"
        output = run(
            "java",
            *("-cp", self._classpath),
            HERE / "Cells.java",
            self._python,
            ready,
            *files,
            cwd=self._folder,
            SPARK_LOCAL_IP="127.0.0.1",
            PYSPARK_SUBMIT_ARGS="--conf spark.ui.enabled=false pyspark-shell",
            ZEPPELIN_HOME=str(self._folder),
            MPLBACKEND="Agg",
            READY=str(ready),
        )
        parts = re.split(r"^--- (\w+)\.py (\w+) (\d+)\n", output, flags=re.MULTILINE)[1:]
        names, codes, millis, texts = (parts[i::4] for i in range(4))
        found = {
            name: Result(code, int(each) / 1000, text)
            for name, code, each, text in zip(names, codes, millis, texts)
        }
        assert found.keys() == cells.keys(), output[-10_000:]
        return found

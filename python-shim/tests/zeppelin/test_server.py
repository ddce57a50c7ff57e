"""Notes in a server of Zeppelin: they run in both languages, are cancelled, and run again."""

import json
import os
import re
import time
from pathlib import Path

import pytest

import spark_collectives
from processes import SECONDS, eventually
from test_examples import EXAMPLES
from zeppelin.interpreter import ROOT, python_of_the_page
from zeppelin.server import Server


def settings(python):
    """Return properties of the interpreter, all of which the page tells its reader to set."""
    import pyspark

    properties = {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "zeppelin.spark.enableSupportedVersionCheck": "false",
        "spark.master": "local[4]",
        "spark.jars": spark_collectives.jar_path(),
        "spark.plugins": "org.sparkcollectives.spark.CollectivesPlugin",
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": str(python),
    }
    page = (ROOT / "docs" / "get-started" / "notebooks.md").read_text("utf-8")
    section = page.partition("\n### Zeppelin\n")[2].partition("\n### ")[0]
    assert all(f"`{name}`" in section for name in properties)
    return properties


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if "ZEPPELIN_HOME" not in os.environ:
        pytest.skip("ZEPPELIN_HOME is not set: it takes a distribution of Apache Zeppelin")
    for package in ("torch", "matplotlib", "IPython", "ipykernel", "jupyter_client", "grpc"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    folder = tmp_path_factory.mktemp("server")
    python = python_of_the_page(folder)
    server = Server(Path(os.environ["ZEPPELIN_HOME"]), folder)
    try:
        # With this, %spark.pyspark is without IPython, beside %spark.ipyspark with it.
        server.set_up("spark", {**settings(python), "zeppelin.pyspark.useIPython": "false"})
        yield server
    finally:
        server.close()


class Note:
    def __init__(self, server, content):
        self._server = server
        self._id, self.paragraphs = server.add(content)

    def run(self, number):
        shown = self._server.run(self._id, self.paragraphs[number])
        assert shown.status == "FINISHED", f"{shown}\n{self._server.said()}"
        return shown

    def cancelled(self, number, ready):
        """Cancel a paragraph once it is ready; return what it shows, and after how many seconds."""
        paragraph = self.paragraphs[number]
        self._server.begin(self._id, paragraph)
        eventually(self._server.said, SECONDS, ready.exists)
        began = time.monotonic()
        self._server.cancel(self._id, paragraph)
        shown = self._server.await_end(self._id, paragraph)
        return shown, time.monotonic() - began

    def await_links(self, number, count):
        """Wait until a paragraph has links to its jobs, which come later than its end."""
        paragraph = self.paragraphs[number]
        eventually(
            self._server.said,
            60,
            lambda: len(self._server.paragraph(self._id, paragraph).links) >= count,
        )


def test_all_paragraphs_of_the_note_run_and_show_results_and_links_to_their_jobs(server):
    content = json.loads((EXAMPLES / "notebooks" / "digits.zpln").read_text("utf-8"))
    texts = [each["text"] for each in content["paragraphs"]]
    note = Note(server, content)
    shown = [note.run(number) for number in range(len(texts))]
    training = next(i for i, text in enumerate(texts) if "spark_collectives.run(" in text)
    lines = shown[training].of("TEXT")
    assert lines.count("[rank 0] epoch 12: loss") == 1
    assert lines.count("12 of 12 steps, loss=") == 1
    everything = "\n".join(each.of("TEXT") for each in shown)
    for step in ("epoch", "step"):
        losses = re.search(rf"loss ([\d.]+) in the first {step}, ([\d.]+) in the last", everything)
        first, last = map(float, losses.groups())
        assert last < first / 2
    assert sum(each.of("IMG") != "" for each in shown) == 1
    html = shown[-1].of("HTML").strip()
    assert html.startswith("<svg") and html.endswith("</svg>")
    # Zeppelin colours what its own shell of Scala says, in text, and shows the colours.
    for text, each in zip(texts, shown):
        kinds = [kind for kind, data in each.output if "\x1b" in data]
        assert kinds == [] or (text.startswith("%spark\n") and set(kinds) == {"TEXT"}), each
    # One for collect() and one for run().
    note.await_links(training, 2)
    note.await_links(next(i for i, text in enumerate(texts) if ".barrier()" in text), 1)
    # As Zeppelin's listener does for a job without a group of a paragraph.
    assert "Listener  threw" not in server.interpreter_logs()


SCALA = """%spark

import org.sparkcollectives.{ReduceOp, Tensor}
import org.sparkcollectives.spark.SparkCollectives
"""

SCALA_LOOP = """
sc.parallelize(0 until 4, 4).barrier().mapPartitions { rows =>
  val world = SparkCollectives.world()
  for (step <- 1 to Int.MaxValue) {
    world.allReduce(Tensor.of(1.0), ReduceOp.SUM).await()
    if (step == 100 && world.rank == 0) new java.io.File("READY").createNewFile()
  }
  rows
}.collect()
"""

SCALA_AGAIN = """
val sums = sc.parallelize(0 until 4, 4).barrier().mapPartitions { _ =>
  val ones = Array(1.0)
  SparkCollectives.world().allReduce(Tensor.of(ones: _*), ReduceOp.SUM).await()
  ones.iterator
}.collect()
println(s"again ${sums.sum}")
"""

PYTHON = """%spark.{}

import numpy as np
import spark_collectives as dist


def add_up():
    ones = np.ones(1)
    dist.all_reduce(ones)
    return float(ones[0])
"""

PYTHON_LOOP = """

def loop():
    for step in range(1 << 60):
        add_up()
        if step == 100 and dist.get_rank() == 0:
            open("READY", "w").close()


dist.run(loop, 4)
"""

PYTHON_AGAIN = """
sums = dist.run(add_up, 4)
print(f"again {sum(sums)}")
"""


@pytest.mark.parametrize("interpreter", ["spark", "spark.ipyspark", "spark.pyspark"])
def test_a_paragraph_is_cancelled_in_the_middle_of_an_all_reduce(server, interpreter, tmp_path):
    ready = tmp_path / "ready"
    if interpreter == "spark":
        texts = [SCALA, SCALA + SCALA_LOOP, SCALA + SCALA_AGAIN]
    else:
        begin = PYTHON.replace("%spark.{}", f"%{interpreter}")
        texts = [begin, begin + PYTHON_LOOP, begin + PYTHON_AGAIN]
    more = {"config": {}, "settings": {"params": {}, "forms": {}}}
    paragraphs = [{"text": text.replace("READY", str(ready)), **more} for text in texts]
    note = Note(server, {"name": interpreter, "paragraphs": paragraphs, "config": {}})
    # A first run may have to start the interpreter.
    note.run(0)
    shown, seconds = note.cancelled(1, ready)
    assert shown.status == "ABORT", f"{shown}\n{server.said()}"
    print(f"%{interpreter} ended {seconds:.1f} s after the cancel")
    # Some seconds; a busy machine takes longer.
    assert seconds < 60
    # This takes all slots: nothing of what was cancelled has one.
    again = note.run(2).of("TEXT")
    assert "again 16.0\n" in again, again

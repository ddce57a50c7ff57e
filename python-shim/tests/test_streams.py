"""What ranks print is shown on whatever streams the program has, and on none of them fails it."""

import io
import json
import queue
import sys
from types import SimpleNamespace

import pytest

from spark_collectives import _display, _progress, _reports
from spark_collectives._progress import NotebookBar, ProgressLines, TerminalBar

#: With letters of Turkish, and an arrow that its encoding lacks.
TEXT = "IĞDIR ilik → 1"


class WriteAndFlush:
    """As in a notebook without IPython: nothing but these two."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


class OnlyWrite:
    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


class Encoded(io.TextIOWrapper):
    def __init__(self, encoding):
        super().__init__(io.BytesIO(), encoding)

    @property
    def text(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


class Broken(WriteAndFlush):
    """Nobody reads it any more."""

    def write(self, text):
        raise BrokenPipeError("nobody reads")

    def isatty(self):
        raise ValueError("I/O operation on closed file")


ESCAPED = {
    "ascii": r"I\u011eDIR ilik \u2192 1",
    "iso8859-9": r"IĞDIR ilik \u2192 1",
    "cp1254": r"IĞDIR ilik \u2192 1",
}

STREAMS = {
    "write and flush": (WriteAndFlush, TEXT),
    "write": (OnlyWrite, TEXT),
    "none": (lambda: None, None),
    "broken": (Broken, None),
    "string": (io.StringIO, TEXT),
    **{name: (lambda name=name: Encoded(name), text) for name, text in ESCAPED.items()},
    "utf-8": (lambda: Encoded("utf-8"), TEXT),
}


def text(stream):
    return stream.getvalue() if isinstance(stream, io.StringIO) else stream.text


@pytest.fixture(params=STREAMS)
def stream(request):
    """Make a stream of each kind; the other value is the text as it arrives there, if it does."""
    make, arrives = STREAMS[request.param]
    return make(), arrives


class Reports:
    def __init__(self, *reports):
        self.reports = queue.SimpleQueue()
        for kind, content in reports:
            self.reports.put(_reports.Report(1, kind, content))


@pytest.mark.parametrize("progress", [None, True, False])
def test_reports_are_shown_on_any_stream(stream, progress, monkeypatch):
    out, arrives = stream
    steps = json.dumps({"done": 1, "total": 2, "values": {"loss": "0,5 → 0"}}).encode()
    reports = Reports(
        (_reports.LINE, TEXT.encode()),
        (_reports.ERROR_LINE, TEXT.encode()),
        (_reports.PROGRESS, steps),
        (_reports.EXCEPTION, b"kept"),
        (_reports.ENDED, b""),
    )
    monkeypatch.delenv("ZEPPELIN_HOME", raising=False)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", out)
    display = _display.Display(2, progress)
    display.show_all(reports)
    display.show_dropped(7)
    display.close()
    monkeypatch.undo()
    assert [each.content for each in display.exceptions] == [b"kept"]
    if arrives is not None:
        assert text(out).count(f"[rank 1] {arrives}\n") == 2
        assert "7 lines are left out" in text(out)
        assert ("1 of 2 steps, loss=0,5" in text(out)) == bool(progress)
        assert text(out).count("\n") == (4 if progress else 3)


@pytest.mark.parametrize("echo", [True, False])
def test_a_rank_prints_whatever_stream_its_process_has(stream, echo):
    before, arrives = stream
    lines = []

    class Kept:
        def send(self, kind, content):
            lines.append(content.decode())

    if isinstance(before, Broken):
        pytest.skip("the rank's own output is at fault")
    out = _reports.LineWriter(Kept(), _reports.LINE, before, echo)
    print(TEXT, file=out, flush=True)
    out.end()
    assert lines == [TEXT]
    assert not out.isatty()
    assert out.encoding
    with pytest.raises(io.UnsupportedOperation):
        out.fileno()
    if before is not None:
        assert text(before) == (f"{arrives}\n" if echo else "")


def test_the_end_of_a_rank_whose_output_is_closed_is_silent():
    # A writer that is collected closes itself, which Python 3.13 reports if it fails.
    before = io.StringIO()
    out = _reports.LineWriter(None, _reports.LINE, before)
    before.close()
    out.flush()
    out.close()


class Terminal(WriteAndFlush):
    def isatty(self):
        return True


def test_progress_is_shown_as_the_place_allows(monkeypatch):
    def ipython(shell):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))

    # Whether or not another test has imported it.
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.delenv("ZEPPELIN_HOME", raising=False)
    monkeypatch.setattr(sys, "stderr", WriteAndFlush())
    assert _progress._kinds(False) == []
    assert _progress._kinds(True) == [ProgressLines]
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert _progress._kinds(False) == [TerminalBar]
    ipython(None)  # imported by a library
    assert _progress._kinds(False) == [TerminalBar]
    ipython(SimpleNamespace(kernel=object()))
    assert _progress._kinds(False) == [NotebookBar]
    assert _progress._kinds(True) == [NotebookBar, ProgressLines]
    monkeypatch.setenv("ZEPPELIN_HOME", "/opt/zeppelin")
    assert _progress._kinds(False) == [ProgressLines]


def test_a_notebook_has_one_bar_that_changes(monkeypatch):
    shown = []

    class Handle:
        def update(self, content, raw):
            assert raw
            shown.append(content)

    def display(content, raw, display_id):
        assert raw and display_id
        shown.append(content)
        return Handle()

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    bar = NotebookBar(4, "rank")
    assert shown.pop()["text/plain"] == "0 of 4 ranks"
    for step in range(1, 1001):
        bar.show(step, 1000, {"loss": "<0.5>"})
    bar.close()
    assert len(shown) < 900, "it is drawn for each step"
    assert shown[-1]["text/plain"] == "1,000 of 1,000 steps, loss=<0.5>"
    html = '<progress value="1000" max="1000"></progress> 1,000 of 1,000 steps, loss=&lt;0.5&gt;'
    assert shown[-1]["text/html"] == html


def test_lines_of_progress_are_few(monkeypatch):
    monkeypatch.delenv("ZEPPELIN_HOME", raising=False)
    monkeypatch.setattr(sys, "stderr", WriteAndFlush())
    lines = ProgressLines(4, "rank")
    for step in range(1, 1001):
        lines.show(step, 1000, {"loss": "0.5"})
    text = sys.stderr.text.splitlines()
    assert len(text) == 10
    assert (text[0], text[-1]) == ("100 of 1,000 steps, loss=0.5", "1,000 of 1,000 steps, loss=0.5")


LOCAL = """
import sys

import spark_collectives
from pyspark.sql import SparkSession


class Logger:
    def __init__(self, out):
        self.write, self.flush = out.write, out.flush


sys.stdout, sys.stderr = Logger(sys.stdout), Logger(sys.stderr)


def speak(last):
    print("only once")
    print("a warning", file=sys.stderr)
    return last


builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = spark_collectives.configure(builder).getOrCreate()
print(spark_collectives.run(speak, 2, "returned"))
print(spark_collectives.run(speak, 1, "without reports", stream=False))
"""


def test_in_local_mode_a_rank_is_shown_once_on_streams_of_a_plain_notebook(tmp_path):
    from test_examples import run

    program = tmp_path / "program.py"
    program.write_text(LOCAL, "utf-8")
    # With the output of the JVM, to which the ranks' processes print.
    output = run([sys.executable, str(program)], tmp_path)
    first, _, rest = output.partition("['returned', 'returned']\n")
    for rank in range(2):
        assert first.count(f"[rank {rank}] only once\n") == 1
        assert first.count(f"[rank {rank}] a warning\n") == 1
    assert first.count("only once") == 2
    assert "only once" in rest
    assert "['without reports']" in rest

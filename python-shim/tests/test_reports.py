"""Reports of ranks to the driver's Python process."""

import gc
import io
import os
import select
import signal
import struct
import threading

from spark_collectives import _reports, _task


class Kept:
    def __init__(self):
        self.lines = []

    def send(self, kind, content):
        self.lines.append(content.decode())


def test_a_line_is_reported_when_it_is_complete():
    kept, before = Kept(), io.StringIO()
    out = _reports.LineWriter(kept, _reports.LINE, before)
    print("one\ntwo", "and a half", file=out, end="")
    assert kept.lines == ["one"]
    out.end()
    assert kept.lines == ["one", "two and a half"]
    assert before.getvalue() == "one\ntwo and a half"


def test_a_line_that_is_overwritten_is_reported_in_its_last_state():
    kept = Kept()
    out = _reports.LineWriter(kept, _reports.ERROR_LINE, io.StringIO())
    for percent in range(101):
        out.write(f"\r{percent}%")
        assert len(out._rest) < 10
    out.write("\n")
    out.write("a line of Windows\r")
    out.write("\nagain\r\n")
    out.write("kept\r")
    out.end()
    assert kept.lines == ["100%", "a line of Windows", "again", "kept"]


def test_reports_that_are_packed_together_are_separated():
    reports = [(0, 0, b"a line"), (3, 2, b""), (1, 3, b"x" * 70_000)]
    packed = b"".join(
        struct.pack("<Ii", 1 + len(content), rank) + bytes((kind,)) + content
        for rank, kind, content in reports
    )
    assert list(_reports.unpack(packed)) == reports
    assert list(_reports.unpack(b"")) == []


class PrintsAtItsEnd:
    def __init__(self, out):
        self.out = out
        self.cycle = self

    def __del__(self):
        print("unclosed file", file=self.out)


class Collects:
    """A connection whose calls run the garbage collector."""

    def __init__(self):
        self.lines = []

    def call(self, request):
        gc.collect()
        self.lines.append(request.body[17:].decode())

    def close(self, why):
        pass


def test_a_finalizer_may_print_while_a_line_is_reported(monkeypatch):
    connection = Collects()
    monkeypatch.setattr(_task, "further_connection", lambda: connection)
    reporter = _reports.Reporter("00" * 16)
    out = _reports.LineWriter(reporter, _reports.LINE, io.StringIO())
    # Otherwise the collector may finalize the object before the line is reported.
    gc.disable()
    try:
        PrintsAtItsEnd(out)
        thread = threading.Thread(target=print, args=("a line",), kwargs={"file": out}, daemon=True)
        thread.start()
        thread.join(60)
    finally:
        gc.enable()
    assert not thread.is_alive()
    assert connection.lines == ["a line", "unclosed file"]
    reporter.close()


def test_a_forked_process_prints_though_a_thread_of_its_parent_did_at_the_fork():
    writer = _reports.LineWriter(_reports.Reporter(None), 0, io.StringIO())
    locked, unlock = threading.Event(), threading.Event()

    def hold():
        with writer._queue._lock:
            locked.set()
            assert unlock.wait(30)

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    assert locked.wait(30)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        writer.write("a line\n")
        os.write(writes, b"1")
        os._exit(0)
    ready, _, _ = select.select([reads], [], [], 30)
    unlock.set()
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reads)
    os.close(writes)
    holder.join(30)
    assert ready

"""What ranks tell the driver's Python process."""

import io

from spark_collectives import _reports


class Kept:
    def __init__(self):
        self.lines = []

    def send(self, kind, content):
        self.lines.append(content.decode())


def test_lines_are_reported_when_they_are_whole():
    kept, before = Kept(), io.StringIO()
    out = _reports.LineWriter(kept, _reports.LINE, before)
    print("one\ntwo", "and a half", file=out, end="")
    assert kept.lines == ["one"]
    out.end()
    assert kept.lines == ["one", "two and a half"]
    assert before.getvalue() == "one\ntwo and a half"


def test_a_line_that_is_written_over_is_reported_as_it_is_in_the_end():
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

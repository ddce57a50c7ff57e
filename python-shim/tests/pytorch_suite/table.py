"""The table of the outcomes in the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from . import CONTROL, OURS, RANKS
from .outcome import FAILED, PASSED, SKIPPED, TIMED_OUT, Outcome
from .results import Results, counts

#: What writes the table of all tests of operations, and that of the tests of ``reconfigure``.
OPERATIONS = "python -m pytorch_suite"
RECONFIGURE = "python -m pytorch_suite for reconfigure"

_ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", re.MULTILINE)
#: Tests that have ended alike on both backends: the outcome, and the names.
_ALIKE = re.compile(r"^\* (.+): ((?:`\w+`(?:, )?)+)$", re.MULTILINE)


def markers(writer: str = OPERATIONS) -> tuple[str, str]:
    """Return the lines between which a table stands."""
    return f"<!-- begin of what {writer} writes -->", f"<!-- end of what {writer} writes -->"


def write(
    page: Path, results: Results, versions: str, writer: str = OPERATIONS, ranks: int = RANKS
) -> None:
    """Replace what stands between the markers of a page."""
    begin, end = markers(writer)
    before, _, rest = page.read_text().partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n{_text(results, versions, ranks)}\n{end}{after}")


def read(page: Path, writer: str = OPERATIONS) -> Results:
    """Return the outcomes that a page has."""
    begin, end = markers(writer)
    text = page.read_text().partition(begin)[2].partition(end)[0]
    results = {
        name: {CONTROL: _outcome(control), OURS: _outcome(ours)}
        for name, control, ours in _ROW.findall(text)
    }
    for cell, names in _ALIKE.findall(text):
        outcome = _outcome(cell)
        results |= {name: {CONTROL: outcome, OURS: outcome} for name in names[1:-1].split("`, `")}
    return dict(sorted(results.items()))


def _text(results: Results, versions: str, ranks: int) -> str:
    kinds = (PASSED, FAILED, TIMED_OUT, SKIPPED)
    number = counts(results)
    lines = [
        f"{len(results)} tests, {ranks} ranks, {versions}.",
        "",
        f"| | {' | '.join(f'{OURS} {kind}' for kind in kinds)} |",
        "|---" * (len(kinds) + 1) + "|",
    ]
    for control in kinds:
        row = [str(number[control, ours]) for ours in kinds]
        lines.append(f"| {CONTROL} {control} | {' | '.join(row)} |")
    alike: dict[str, list[str]] = {}
    different = []
    for name, each in sorted(results.items()):
        control, ours = _cell(each[CONTROL]), _cell(each[OURS])
        if control == ours:
            alike.setdefault(control, []).append(f"`{name}`")
        else:
            different.append(f"| `{name}` | {control} | {ours} |")
    if different:
        lines += ["", f"| Test | {CONTROL} | {OURS} |", "|---|---|---|", *different]
    lines += ["", "Tests that ended alike on both:", ""]
    lines += [f"* {cell}: {', '.join(names)}" for cell, names in sorted(alike.items())]
    return "\n".join(lines)


def _cell(outcome: Outcome) -> str:
    # Reasons are the words of programs, which may be Markdown or HTML.
    reason = outcome.reason.replace("|", "/").replace("`", "'")
    return f"{outcome.kind}: `{reason}`" if reason else outcome.kind


def _outcome(cell: str) -> Outcome:
    kind, _, reason = cell.partition(": ")
    return Outcome(kind, reason.strip("`"))

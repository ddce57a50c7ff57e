"""The samples of the documentation: the fenced blocks of code in the pages.

A comment right above a block, which readers do not see, may say how the block is run. Its lines
after the first are code in the block's language that runs before it:

    <!-- sample
    steps = 3
    -->

``<!-- sample: rank`` runs the block on every rank of a group, ``<!-- sample: torch`` and
``<!-- sample: lightgbm`` where that package is installed, ``<!-- sample: newest-torch`` where its
version is that of the builds, and ``<!-- sample: none`` not at all; a reason may follow it.
``<!-- sample: elastic`` and ``<!-- sample: elastic-torch`` run in the application of
``elastic_program``.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]

_BLOCK = re.compile(
    r"(?:^<!-- sample(?P<kind>:(?:(?!-->)[^\n])*)?\n?(?P<before>(?:(?!-->).)*)-->\n+)?"
    r"^(?P<fence> *```)(?P<language>\w+)\n(?P<code>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)


class Sample(NamedTuple):
    """A block of a page."""

    page: str
    line: int
    language: str
    #: "", "rank", "torch", "newest-torch", "lightgbm", "elastic", "elastic-torch" or "none".
    kind: str
    before: str
    code: str


def samples(page, language):
    """Return the blocks of a page in a language, from top to bottom."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        if match["language"] == language:
            line = text.count("\n", 0, match.start("code")) + 1
            words = (match["kind"] or "").strip(": -").split()
            kind = words[0] if words else ""
            found.append(Sample(page, line, language, kind, match["before"] or "", match["code"]))
    return found


def pages(language):
    """Return the pages that have a block in a language."""
    every = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "python-shim" / "README.md"]
    names = [str(page.relative_to(ROOT)) for page in sorted(every)]
    return [page for page in names if samples(page, language)]

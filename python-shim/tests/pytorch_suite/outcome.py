"""How a test has ended."""

from __future__ import annotations

import re
from dataclasses import dataclass

PASSED = "passed"
SKIPPED = "skipped"
FAILED = "failed"
TIMED_OUT = "timed out"

_WIDTH = 160


@dataclass(frozen=True)
class Outcome:
    """How a test has ended on a rank or on all of them, and why unless it has passed."""

    kind: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.reason else self.kind


def one_line(text: str) -> str:
    """Return the first words of a text, without what differs from run to run."""
    line = " ".join(text.split())
    line = re.sub(r"0x[0-9a-f]+", "0x…", line)
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


def of_all(outcomes: dict[int, Outcome], ranks: int) -> Outcome:
    """Return how a test has ended, of what its ranks say. A rank that was ended says nothing.

    Once a rank has taken too long, others fail because of it; once one has failed, none may go on.
    """
    for kind in (TIMED_OUT, FAILED):
        for rank, each in sorted(outcomes.items()):
            if each.kind == kind:
                return Outcome(kind, f"rank {rank}: {each.reason}")
    missing = [rank for rank in range(ranks) if rank not in outcomes]
    if missing:
        return Outcome(FAILED, f"the process of rank {missing[0]} ended")
    # As PyTorch's own runs do, which ask rank 0: a test of two ranks is skipped by the others.
    return outcomes[0]

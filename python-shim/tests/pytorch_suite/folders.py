"""The folder that the ranks of a test share with the driver."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from .outcome import TIMED_OUT, Outcome

MEETING = "meeting"
#: Where tests meet that create the group again.
REPEATED_MEETING = "init_dir/shared_init_file"


@contextlib.contextmanager
def folder_of_test() -> Iterator[Path]:
    """Make the folder that PyTorch's tests expect, and remove it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pytorch-suite-"))
    try:
        for each in ("barrier", "test_dir", "init_dir", "outcomes"):
            (folder / each).mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stack_of(folder: Path, rank: int) -> Path:
    """Return the file for the stack of a rank that has taken too long."""
    return folder / "outcomes" / f"{rank}.stack"


def write(folder: Path, rank: int, outcome: Outcome) -> None:
    """Write how a test has ended on a rank."""
    part = folder / "outcomes" / f"{rank}.part"
    part.write_text(json.dumps(asdict(outcome)))
    part.rename(part.with_suffix(".json"))


def read(folder: Path, ranks: int) -> dict[int, Outcome]:
    """Return how a test has ended, by the rank."""
    found = {}
    for rank in range(ranks):
        written = folder / "outcomes" / f"{rank}.json"
        stack = stack_of(folder, rank)
        if written.exists():
            found[rank] = Outcome(**json.loads(written.read_text()))
        elif stack.exists() and stack.stat().st_size:
            found[rank] = Outcome(TIMED_OUT, f"in {_innermost(stack.read_text())}")
    return found


def _innermost(stack: str) -> str:
    """Return the innermost function of the main thread, whose stack is the last."""
    lines = [line.strip() for line in stack.split("Thread ")[-1].splitlines()]
    frames = [line for line in lines if line.startswith("File ")]
    return frames[0].rpartition(" in ")[2] if frames else "unknown code"

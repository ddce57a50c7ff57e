"""Runs PyTorch's tests, and compares the backends: ``python -m pytorch_suite --help``."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path
from typing import Any

from . import CONTROL, OURS, RANKS, application, cases, fault_tolerance, results, table
from .outcome import PASSED, SKIPPED, Outcome, one_line
from .sample import SAMPLE


def main() -> int:
    """Run the tests that the command line names; return 1 if ours falls behind the control."""
    options = _options()
    file = options.reconfigure
    if file is not None:
        names = options.tests or fault_tolerance.names(file)
    else:
        names = cases.names() if options.full else options.tests or list(SAMPLE)
    backends = options.backend or [CONTROL, OURS]
    found: results.Results = {}
    with application.application() as session:
        for name in names:
            found[name] = _outcomes(session, name, backends, options.limit, file)
            print(name, *(f"{key} {value}" for key, value in found[name].items()), sep=", ")
            sys.stdout.flush()
    if options.results:
        results.write(options.results, found)
    if len(backends) < 2:
        return 0
    if options.table:
        writer, ranks = table.OPERATIONS, RANKS
        if file is not None:
            writer, ranks = table.RECONFIGURE, fault_tolerance.RANKS
        kept = {} if options.full else table.read(options.table, writer)
        table.write(options.table, {**kept, **found}, _versions(), writer, ranks)
    wrong = results.complaints(found)
    print("\n".join(wrong))
    return 1 if wrong else 0


def _outcomes(
    session: Any, name: str, backends: list[str], limit: float, file: Path | None
) -> dict[str, Outcome]:
    skip = cases.skip_of(name) if file is None else None
    if skip is not None:
        return dict.fromkeys(backends, Outcome(SKIPPED, one_line(skip)))
    found: dict[str, Outcome] = {}
    for each in backends:
        # What skips a test does not depend on the backend, as cases.load has it.
        skipped = found.get(CONTROL, Outcome(PASSED)).kind == SKIPPED
        found[each] = (
            found[CONTROL] if skipped else application.run(session, name, each, limit, file)
        )
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("pytorch_suite", description=__doc__)
    parser.add_argument("tests", nargs="*", help="names of tests; by default those of the sample")
    parser.add_argument(
        "--reconfigure",
        type=lambda path: Path(path).resolve(),
        metavar="FILE",
        help="run the tests of test/distributed/test_c10d_fault_tolerance.py of PyTorch's sources",
    )
    parser.add_argument("--full", action="store_true", help="run all tests")
    parser.add_argument(
        "--backend", action="append", choices=[CONTROL, OURS], help="by default both"
    )
    parser.add_argument("--limit", type=float, default=120, help="seconds for each test")
    parser.add_argument("--results", type=Path, help="write the outcomes there, as JSON")
    parser.add_argument("--table", type=Path, help="write them into this page's table")
    return parser.parse_args()


def _versions() -> str:
    import pyspark
    import torch

    python = platform.python_version()
    return f"torch {torch.__version__}, PySpark {pyspark.__version__}, Python {python}"


if __name__ == "__main__":
    sys.exit(main())

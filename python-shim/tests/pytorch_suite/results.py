"""How tests have ended on each backend, and where ours falls behind the control."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from . import CONTROL, OURS
from .exceptions import EXCEPTIONS
from .outcome import PASSED, Outcome

#: The outcomes of each test, by the backend.
Results = dict[str, dict[str, Outcome]]


def write(path: Path, results: Results) -> None:
    """Write results as JSON."""
    plain = {
        name: {backend: asdict(each) for backend, each in outcomes.items()}
        for name, outcomes in results.items()
    }
    path.write_text(json.dumps(plain, indent=1) + "\n")


def read(path: Path) -> Results:
    """Read what :func:`write` has written."""
    return {
        name: {backend: Outcome(**each) for backend, each in outcomes.items()}
        for name, outcomes in json.loads(path.read_text()).items()
    }


def behind(results: Results) -> list[str]:
    """Return the tests that pass on the control and not on ours."""
    return [
        name
        for name, outcomes in results.items()
        if outcomes[CONTROL].kind == PASSED and outcomes[OURS].kind != PASSED
    ]


def complaints(results: Results) -> list[str]:
    """Return what fails a build: a test that should pass, and an exception that is none."""
    late = behind(results)
    found = [
        f"{name} passes on {CONTROL}, and on {OURS} it has {results[name][OURS]}"
        for name in late
        if name not in EXCEPTIONS
    ]
    return found + [
        f"{name} is an exception, and passes on {OURS}: take it off the list"
        for name in EXCEPTIONS
        if name in results and name not in late
    ]


def counts(results: Results) -> Counter[tuple[str, str]]:
    """Count the tests by how they have ended on the control, and on ours."""
    return Counter((each[CONTROL].kind, each[OURS].kind) for each in results.values())

"""The reports of the ranks before they train, so that all of them refuse what one finds."""

from __future__ import annotations

import socket
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, TypeVar

from .. import objects
from . import _library

_T = TypeVar("_T")


class RankReport(NamedTuple):
    """What one rank has."""

    host: str
    #: The version of lightgbm, or None if it cannot be imported.
    version: Optional[str]
    rows: int = 0
    columns: int = 0
    #: What all ranks must have alike, by name: parameters, arguments, properties of the Dataset.
    settings: Optional[Dict[str, str]] = None
    #: What is wrong with the rank, and what to do.
    problems: Sequence[str] = ()


def require_library(group: Any) -> None:
    """Require the same version of lightgbm on all ranks.

    A collective, so that all ranks raise the same error, which names the ranks and hosts at fault.

    :raises ModuleNotFoundError: if a rank has no lightgbm, or one that cannot be imported
    :raises RuntimeError: if two ranks have different versions
    """
    host = socket.gethostname()
    try:
        own = RankReport(host, _library.version())
    except (ImportError, OSError) as e:
        own = RankReport(host, None, problems=[str(e)])
    reports = gathered(group, own)
    missing = [
        f"{_name(rank, report)}: {report.problems[0]}"
        for rank, report in enumerate(reports)
        if report.version is None
    ]
    if missing:
        raise ModuleNotFoundError("\n".join(missing), name="lightgbm")
    first: Dict[str, str] = {}
    for rank, report in enumerate(reports):
        first.setdefault(str(report.version), _name(rank, report))
    if len(first) > 1:
        found = " and ".join(f"{version} on {name}" for version, name in first.items())
        raise RuntimeError(f"The ranks have different versions of lightgbm: {found}; install one")


def require_rows(group: Any, own: RankReport) -> List[RankReport]:
    """Require rows that fit together on all ranks; return what all of them have.

    A collective, so that all ranks raise the same error.

    :raises ValueError: if a rank has a problem, or no rows, or ranks differ
    """
    reports = gathered(group, own)
    problems = [
        f"{_name(rank, report)}: {problem}"
        for rank, report in enumerate(reports)
        for problem in report.problems
    ]
    problems += [
        f"{_name(rank, report)} has no rows to train on: spread them, for example with "
        "repartition, or take fewer ranks"
        for rank, report in enumerate(reports)
        if report.rows == 0 and not report.problems
    ]
    if not problems:
        problems = _differences(reports, "columns", [report.columns for report in reports])
    if not problems:
        problems = _differences(reports, "settings", _differing_settings(reports))
    if problems:
        raise ValueError("\n".join(problems))
    return reports


def _differences(reports: Sequence[RankReport], what: str, values: Sequence[Any]) -> List[str]:
    for rank, (report, value) in enumerate(zip(reports, values)):
        if value != values[0]:
            return [
                f"The ranks differ in their {what}: {values[0]} on {_name(0, reports[0])}, "
                f"{value} on {_name(rank, report)}"
            ]
    return []


def _differing_settings(reports: Sequence[RankReport]) -> List[str]:
    """Return as text, by rank, the settings that are not the same on all ranks."""
    settings = [report.settings or {} for report in reports]
    names = sorted({name for each in settings for name in each})
    differing = [name for name in names if len({each.get(name) for each in settings}) > 1]
    return [
        ", ".join(f"{name}={each.get(name, 'not given')}" for name in differing)
        for each in settings
    ]


def _name(rank: int, report: RankReport) -> str:
    return f"rank {rank} ({report.host})"


def gathered(group: Any, own: Any) -> List[Any]:
    """Return the objects of all ranks."""
    found: List[Any] = [None] * group.size
    objects.all_gather_object(found, own, group)
    return found


def on_all(group: Any, step: Callable[[], _T]) -> _T:
    """Take a step on each rank; return this rank's result. A collective.

    :raises Exception: on all ranks, if the step fails on one: what it raised on the first of them
    """
    result: Optional[_T] = None
    failure: Optional[Exception] = None
    try:
        result = step()
    except Exception as e:
        failure = e
    failures = [each for each in gathered(group, failure) if each is not None]
    if failures:
        raise failures[0]
    return result  # type: ignore[return-value]

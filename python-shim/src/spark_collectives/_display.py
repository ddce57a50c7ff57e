"""The output of ranks in the process that called ``run``."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any, List, Optional

from . import _reports, _streams
from ._progress import Progress, progress_bar
from ._reports import Report, ReportReader


class Display:
    """Shows in the caller's process the printed lines and the progress of the ranks.

    What cannot be shown is left out: it fails neither the caller nor the ranks.
    """

    #: Whether lines appear here; then ranks of a local master need not print them themselves.
    shows_lines = True

    def __init__(self, total: int, progress: Optional[bool], unit: str = "rank") -> None:
        self.exceptions: List[Report] = []
        self._wanted = (total, progress, unit)
        self._begun = False
        self._bar: Optional[Progress] = None
        self._has_progress = False

    def show_all(self, reader: Optional[ReportReader]) -> None:
        """Show the reports that have arrived, and collect the exceptions among them."""
        if reader is None:
            return
        if not self._begun:
            # Here, because a bar of ranks that report to nobody would stay at its beginning.
            self._begun = True
            self._bar = progress_bar(*self._wanted)
        while not reader.reports.empty():
            self._show(reader.reports.get())

    def show_dropped(self, count: int) -> None:
        """Show the number of lines that were dropped, if there are any."""
        if count > 0:
            text = f"{count:,} lines are left out: ranks printed faster than they could be shown"
            with contextlib.suppress(Exception):
                self._write(sys.stdout, text)

    def _show(self, report: Report) -> None:
        if report.kind == _reports.EXCEPTION:
            self.exceptions.append(report)
            return
        with contextlib.suppress(Exception):
            if report.kind in (_reports.LINE, _reports.ERROR_LINE):
                out = sys.stdout if report.kind == _reports.LINE else sys.stderr
                content = report.content.decode("utf-8", "replace")
                self._write(out, f"[rank {report.rank}] {content}")
            elif self._bar is not None and report.kind == _reports.PROGRESS:
                self._has_progress = True
                self._bar.show(**json.loads(report.content))
            elif self._bar is not None and report.kind == _reports.ENDED and not self._has_progress:
                self._bar.advance()

    def _write(self, out: Any, line: str) -> None:
        with contextlib.nullcontext() if self._bar is None else self._bar.line(out):
            _streams.write_line(out, line)

    def close(self) -> None:
        """Close the progress bar."""
        if self._bar is not None:
            with contextlib.suppress(Exception):
                self._bar.close()

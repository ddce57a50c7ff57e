"""The output of ranks in the process that called ``run``."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, Dict, List, Optional

from . import _reports, _streams
from ._reports import Report, ReportReader


class Display:
    """Shows in the caller's process the printed lines and the progress of the ranks.

    What cannot be shown is left out: it fails neither the caller nor the ranks.
    """

    #: Whether lines appear here; then ranks of a local master need not print them themselves.
    shows_lines = True

    def __init__(self, total: int, progress: Optional[bool], unit: str = "rank") -> None:
        self.exceptions: List[Report] = []
        self._bar = progress_bar(total, progress, unit)
        self._has_progress = False

    def show_all(self, reader: Optional[ReportReader]) -> None:
        """Show the reports that have arrived, and collect the exceptions among them."""
        if reader is None:
            return
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
            elif report.kind == _reports.PROGRESS:
                self._progress(json.loads(report.content))
            elif report.kind == _reports.ENDED and self._bar is not None and not self._has_progress:
                self._bar.update(1)

    def _write(self, out: Any, line: str) -> None:
        if self._bar is None:
            _streams.write_line(out, line)
        elif out is not None:
            with self._bar.external_write_mode(file=out):
                _streams.write_line(out, line)

    def _progress(self, progress: Dict[str, Any]) -> None:
        if self._bar is not None:
            self._has_progress = True
            self._bar.total = progress["total"]
            self._bar.n = progress["done"]
            self._bar.unit = "step"
            self._bar.set_postfix(progress["values"], refresh=False)
            self._bar.refresh()

    def close(self) -> None:
        """Close the progress bar."""
        if self._bar is not None:
            with contextlib.suppress(Exception):
                self._bar.close()


def progress_bar(total: int, progress: Optional[bool], unit: str) -> Any:
    """Create a progress bar; None if it is not wanted, or cannot be shown."""
    if progress is None:
        progress = _redraws()
    if not progress or sys.stderr is None:
        return None
    try:
        from tqdm.auto import tqdm

        return tqdm(total=total, desc=f"{total} {unit}s", unit=unit)
    except Exception:  # It is not installed, or cannot write.
        return None


def _redraws() -> bool:
    """Return whether a carriage return goes back to the start of a line, as a bar needs it.

    It does in terminals and in Jupyter. Zeppelin has Jupyter's kernel, and appends.
    """
    if _streams.is_terminal(sys.stderr):
        return True
    return "ipykernel" in sys.modules and "ZEPPELIN_HOME" not in os.environ

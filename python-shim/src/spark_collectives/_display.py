"""The output of ranks in the process that called ``run``."""

from __future__ import annotations

import json
import sys
from typing import Any, Dict, List, Optional

from . import _reports
from ._reports import Report, ReportReader


class Display:
    """Shows in the caller's process the printed lines and the progress of the ranks."""

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
            print(f"{count:,} lines are left out: ranks printed faster than they could be shown")

    def _show(self, report: Report) -> None:
        if report.kind in (_reports.LINE, _reports.ERROR_LINE):
            out = sys.stdout if report.kind == _reports.LINE else sys.stderr
            line = f"[rank {report.rank}] {report.content.decode('utf-8', 'replace')}"
            if self._bar is None:
                print(line, file=out, flush=True)
            else:
                self._bar.write(line, file=out)
        elif report.kind == _reports.EXCEPTION:
            self.exceptions.append(report)
        elif report.kind == _reports.PROGRESS:
            self._progress(json.loads(report.content))
        elif report.kind == _reports.ENDED and self._bar is not None and not self._has_progress:
            self._bar.update(1)

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
            self._bar.close()


def progress_bar(total: int, progress: Optional[bool], unit: str) -> Any:
    """Create a progress bar; None if it is not wanted, or tqdm is not installed."""
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=f"{total} {unit}s", unit=unit)

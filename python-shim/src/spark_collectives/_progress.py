"""The progress of the ranks, drawn as the place allows in which the caller runs."""

from __future__ import annotations

import contextlib
import html
import os
import sys
import time
from typing import Any, Dict, List, Optional, Type, Union

from . import _streams


class TerminalBar:
    """A bar of tqdm, which redraws its line."""

    def __init__(self, total: int, unit: str) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=total, desc=f"{total} {unit}s", unit=unit)

    def line(self, out: Any) -> Any:
        """Return a context in which a line can be written above the bar."""
        return self._bar.external_write_mode(file=out)

    def advance(self) -> None:
        """Show that one more rank has ended."""
        self._bar.update(1)

    def show(self, done: float, total: float, values: Dict[str, str]) -> None:
        """Show what a rank has reported."""
        self._bar.total = total
        self._bar.n = done
        self._bar.unit = "step"
        self._bar.set_postfix(values, refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.close()


class NotebookBar:
    """A bar of HTML, which IPython's display protocol replaces by its next state.

    Needs neither tqdm nor widgets. Lines that are printed stand below it.
    """

    #: A notebook draws no faster, whatever is reported.
    _SECONDS = 0.1

    def __init__(self, total: int, unit: str) -> None:
        from IPython.display import display

        self._done: float = 0
        self._total: float = total
        self._unit = unit
        self._values: Dict[str, str] = {}
        self._drawn = time.monotonic()
        self._handle = display(self._content(), raw=True, display_id=True)

    def line(self, _out: Any) -> Any:
        """Return a context in which a line can be written."""
        return contextlib.nullcontext()

    def advance(self) -> None:
        """Show that one more rank has ended."""
        self._done += 1
        self._draw()

    def show(self, done: float, total: float, values: Dict[str, str]) -> None:
        """Show what a rank has reported."""
        self._done, self._total, self._values, self._unit = done, total, values, "step"
        self._draw()

    def close(self) -> None:
        """Show the last state."""
        self._draw(now=True)

    def _draw(self, now: bool = False) -> None:
        if now or time.monotonic() - self._drawn >= self._SECONDS:
            self._drawn = time.monotonic()
            self._handle.update(self._content(), raw=True)

    def _content(self) -> Dict[str, str]:
        text = _text(self._done, self._total, self._unit, self._values)
        bar = f'<progress value="{self._done}" max="{self._total}"></progress>'
        return {"text/html": f"{bar} {html.escape(text)}", "text/plain": text}


class ProgressLines:
    """Lines of text, at most one for each tenth of the whole. They show what ranks report."""

    def __init__(self, _total: int, _unit: str) -> None:
        self._tenth = 0
        # A notebook without IPython shows nothing else; elsewhere a program's output is its own.
        self._out = sys.stdout if _in_zeppelin() else sys.stderr

    def line(self, _out: Any) -> Any:
        """Return a context in which a line can be written."""
        return contextlib.nullcontext()

    def advance(self) -> None:
        """Show nothing: that ranks have ended is seen soon."""

    def show(self, done: float, total: float, values: Dict[str, str]) -> None:
        """Show what a rank has reported, unless a line of this tenth is there."""
        tenth = int(10 * done / total) if total > 0 else 0
        if tenth != self._tenth:
            self._tenth = tenth
            _streams.write_line(self._out, _text(done, total, "step", values))

    def close(self) -> None:
        """Show nothing more."""


Progress = Union[TerminalBar, NotebookBar, ProgressLines]


def progress_bar(total: int, progress: Optional[bool], unit: str) -> Optional[Progress]:
    """Create what shows the progress; None if it is not wanted, or cannot be shown."""
    if progress is False:
        return None
    for kind in _kinds(bool(progress)):
        with contextlib.suppress(Exception):  # A package is missing, or nobody reads.
            return kind(total, unit)
    return None


def _kinds(wanted: bool) -> List[Type[Progress]]:
    """Return what can show the progress here, the best first.

    Zeppelin has Jupyter's kernel, but neither replaces what is displayed nor obeys a carriage
    return.
    """
    if _in_zeppelin():
        return [ProgressLines]
    kinds: List[Type[Progress]] = []
    if _is_kernel():
        kinds.append(NotebookBar)
    elif _streams.is_terminal(sys.stderr):
        kinds.append(TerminalBar)
    return [*kinds, ProgressLines] if wanted else kinds


def _in_zeppelin() -> bool:
    return "ZEPPELIN_HOME" in os.environ


def _is_kernel() -> bool:
    """Return whether this process is the kernel of a notebook, whoever else has loaded IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _text(done: float, total: float, unit: str, values: Dict[str, str]) -> str:
    more = "".join(f", {name}={value}" for name, value in values.items())
    return f"{done:,} of {total:,} {unit}s{more}"

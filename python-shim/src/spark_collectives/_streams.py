"""Writing to the streams of a program of which nothing is known.

A notebook's stream may have ``write`` and ``flush`` and nothing else, its encoding may lack the
characters of the text, and a program without a console has None.
"""

from __future__ import annotations

from typing import Any


def write(stream: Any, text: str) -> None:
    """Write the text; characters that the stream's encoding lacks are escaped."""
    if stream is None:
        return
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = getattr(stream, "encoding", None) or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def flush(stream: Any) -> None:
    """Flush the stream, if it can be flushed and is still open."""
    if hasattr(stream, "flush") and not getattr(stream, "closed", False):
        stream.flush()


def write_line(stream: Any, line: str) -> None:
    """Write the line in one call, and flush the stream."""
    write(stream, f"{line}\n")
    flush(stream)


def is_terminal(stream: Any) -> bool:
    """Return whether the stream is a terminal, as far as it can tell."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # It has no such method, or is closed.
        return False

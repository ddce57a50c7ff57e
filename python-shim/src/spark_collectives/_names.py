"""The known name that a user may have meant by an unknown one."""

from __future__ import annotations

import difflib
from typing import Iterable


def question(name: str, known: Iterable[str]) -> str:
    """Return ``. Did you mean X?`` for the end of an error; an empty text if none is near.

    >>> question("wold_size", ["rank", "world_size"])
    '. Did you mean world_size?'
    """
    by_letters = {each.lower(): each for each in sorted(known)}
    near = difflib.get_close_matches(name.lower(), by_letters, 1)
    return f". Did you mean {by_letters[near[0]]}?" if near else ""

"""The order in which LightGBM's own sockets reduce blocks."""

from __future__ import annotations

from typing import Any, List


def reduce_parts(parts: List[int], element: int, size: int, function: Any) -> None:
    """Reduce blocks of ``size`` bytes into the first one, in the order of recursive halving.

    With another number of blocks than a power of two, those beyond it come first. All of them are
    overwritten.

    :param parts: the addresses of the blocks, by rank
    :param element: the bytes of an element
    :param function: ``function(from, to, element, size)`` reduces one block into another
    """
    half = 1 << (len(parts).bit_length() - 1)
    for i in range(half, len(parts)):
        function(parts[i], parts[i - half], element, size)
    while half > 1:
        half //= 2
        for i in range(half):
            function(parts[i + half], parts[i], element, size)

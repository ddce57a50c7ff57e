"""The exchange of blocks of bytes between the processes of one host, in memory that they share."""

from __future__ import annotations

import ctypes
from typing import Any, Sequence

from . import _host_barrier
from ._host_barrier import HostBarrier, Life
from ._reduction import reduce_parts

#: Blocks begin at multiples of this.
_ALIGNMENT = 64

#: A piece of a block has a multiple of so many elements: LightGBM reduces some of them in pairs.
_ELEMENTS = 16


class HostExchange:
    """Moves blocks of bytes, given by address, between ranks that have mapped each other's memory.

    After the barrier, each rank's memory has two buffers. In turn, a rank copies into one of them
    what it gives, meets the others, and reads theirs. When it meets them for the second time after
    that, it has the proof that all have read the first buffer: so it is free again, without another
    message. What does not fit in a buffer goes in pieces. Not thread-safe.

    :param addresses: where the memory of each rank begins in this process, by rank
    :param size: the bytes of the memory of one rank
    """

    def __init__(self, rank: int, addresses: Sequence[int], size: int, life: Life) -> None:
        self._rank = rank
        self._others = [other for other in range(len(addresses)) if other != rank]
        self._barrier = HostBarrier(rank, addresses, life)
        first = _aligned(_host_barrier.bytes_for(len(addresses)))
        self._capacity = (size - first) // 2 & -_ALIGNMENT
        self._buffers = [each + first for each in addresses]
        self._others_buffers = [each + self._capacity for each in self._buffers]

    def prepare(self) -> None:
        """Make this rank's memory ready; no rank may exchange before all have done this."""
        self._barrier.prepare()

    def can_reduce(self, element: int, size: int) -> bool:
        """Return whether blocks of such elements, ``size`` bytes in all, can be reduced here."""
        return size <= self._capacity or self._step(element) > 0

    def leave(self) -> None:
        """Say that this rank exchanges no more."""
        self._barrier.leave()

    def all_gather(
        self, data: int, size: int, starts: Sequence[int], lengths: Sequence[int], output: int
    ) -> None:
        """Gather the blocks of all ranks.

        :param data: where this rank's block of ``size`` bytes begins; may be within the output
        :param starts: where the block of each rank goes, from ``output`` on
        """
        own = output + starts[self._rank]
        if own != data:
            ctypes.memmove(own, data, size)
        longest = max(lengths)
        at = 0
        while True:
            buffers = self._turn()
            if at < size:
                count = min(self._capacity, size - at)
                ctypes.memmove(buffers[self._rank], own + at, count)
            self._barrier.wait()
            for other in self._others:
                count = min(self._capacity, lengths[other] - at)
                if count > 0:
                    ctypes.memmove(output + starts[other] + at, buffers[other], count)
            at += self._capacity
            if at >= longest:
                return

    def reduce_scatter(
        self,
        data: int,
        size: int,
        element: int,
        starts: Sequence[int],
        lengths: Sequence[int],
        output: int,
        function: Any,
    ) -> None:
        """Reduce the blocks of all ranks, and write the one at this rank's index to the output.

        :param data: where the blocks begin; ``starts`` are from there
        :param size: the number of bytes that the blocks take from there
        :param function: as :func:`reduce_parts` takes it
        """
        rank = self._rank
        own = lengths[rank]
        if size <= self._capacity:
            buffers = self._turn()
            ctypes.memmove(buffers[rank], data, size)
            self._barrier.wait()
            if own:
                # Nobody else reads these parts, not even in the memory of the other ranks.
                parts = [each + starts[rank] for each in buffers]
                reduce_parts(parts, element, own, function)
                ctypes.memmove(output, parts[0], own)
            return
        step = self._step(element)
        for at in range(0, max(lengths), step):
            buffers = self._turn()
            for i, (start, length) in enumerate(zip(starts, lengths)):
                count = min(step, length - at)
                if count > 0:
                    ctypes.memmove(buffers[rank] + step * i, data + start + at, count)
            self._barrier.wait()
            count = min(step, own - at)
            if count > 0:
                parts = [each + step * rank for each in buffers]
                reduce_parts(parts, element, count, function)
                ctypes.memmove(output + at, parts[0], count)

    def _step(self, element: int) -> int:
        """Return the most bytes of one block in a piece; 0 if not even a few elements fit."""
        whole = _ELEMENTS * element
        return self._capacity // (len(self._others) + 1) // whole * whole

    def _turn(self) -> Sequence[int]:
        """Return the buffers of this turn, by rank."""
        self._buffers, self._others_buffers = self._others_buffers, self._buffers
        return self._others_buffers


def _aligned(size: int) -> int:
    return (size + _ALIGNMENT - 1) & -_ALIGNMENT

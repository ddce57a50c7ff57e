"""The exchange of blocks of bytes by the collectives of a group, in memory that is used again."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

from ._reduction import reduce_parts

#: Received blocks begin at multiples of this: LightGBM reads numbers from them.
_ALIGNMENT = 64

#: The most layouts that are kept. LightGBM uses a few in each tree.
_MOST_LAYOUTS = 256


class _Layout(NamedTuple):
    """The arrays of one exchange, and where the received blocks are."""

    outputs: List[Any]
    inputs: List[Any]
    addresses: List[int]


class GroupExchange:
    """Moves blocks of bytes, given by address, between the ranks of a group.

    It has two arrays in the group's memory, which grow as needed, so that an exchange costs one
    call of the group and a copy of what this rank gives. Not thread-safe.
    """

    def __init__(self, group: Any) -> None:
        self._group = group
        self._sent = self._received = np.empty(0, np.uint8)
        self._sent_at = self._received_at = 0
        self._layouts: Dict[Tuple[Any, ...], _Layout] = {}

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
        parts = self._all_to_all(data, size, starts, lengths)
        own = lengths[self._group.rank]
        if own:
            reduce_parts(parts, element, own, function)
            ctypes.memmove(output, parts[0], own)

    def all_gather(
        self, data: int, size: int, starts: Sequence[int], lengths: Sequence[int], output: int
    ) -> None:
        """Gather the blocks of all ranks.

        :param data: where this rank's block of ``size`` bytes begins; may be within the output
        :param starts: where the block of each rank goes, from ``output`` on
        """
        # The output is written only now.
        for part, start, count in zip(self._gathered(data, size, lengths), starts, lengths):
            ctypes.memmove(output + start, part, count)

    def _all_to_all(
        self, address: int, size: int, starts: Sequence[int], lengths: Sequence[int]
    ) -> List[int]:
        """Send block i to rank i; return the addresses of the blocks received, by rank.

        Each of them has the length of this rank's own block. They stay until the next exchange.

        :param address: where the blocks begin; ``starts`` are from there
        :param size: the number of bytes that the blocks take from there
        """
        key = (*starts, *lengths)
        layout = self._layouts.get(key)
        if layout is None:
            own = lengths[self._group.rank]
            step = _aligned(own)
            self._reserve(size, step * self._group.size)
            layout = self._keep(
                key,
                [self._received[at : at + own] for at in range(0, step * len(lengths), step)]
                if own
                else [self._received[:0] for _ in lengths],
                [self._sent[start : start + count] for start, count in zip(starts, lengths)],
                [self._received_at + step * i for i in range(len(lengths))],
            )
        ctypes.memmove(self._sent_at, address, size)
        self._group.all_to_all(layout.outputs, layout.inputs)
        return layout.addresses

    def _gathered(self, address: int, size: int, lengths: Sequence[int]) -> List[int]:
        """Gather the blocks of all ranks; return their addresses, by rank.

        :param address: where this rank's block begins
        :param size: its number of bytes
        """
        key = tuple(lengths)
        layout = self._layouts.get(key)
        if layout is None:
            starts = [0]
            for count in lengths:
                starts.append(starts[-1] + _aligned(count))
            self._reserve(size, starts[-1])
            layout = self._keep(
                key,
                [self._received[at : at + count] for at, count in zip(starts, lengths)],
                [self._sent[:size]],
                [self._received_at + at for at in starts[:-1]],
            )
        ctypes.memmove(self._sent_at, address, size)
        self._group.all_gather(layout.outputs, layout.inputs[0])
        return layout.addresses

    def _reserve(self, sent: int, received: int) -> None:
        if sent > self._sent.nbytes or received > self._received.nbytes:
            # The views of the layouts keep the old arrays alive.
            self._layouts.clear()
        if sent > self._sent.nbytes:
            self._sent, self._sent_at = self._allocate(sent)
        if received > self._received.nbytes:
            self._received, self._received_at = self._allocate(received)

    def _allocate(self, size: int) -> Tuple[Any, int]:
        array = self._group.zeros(1 << (size - 1).bit_length(), np.uint8)
        return array, int(array.__array_interface__["data"][0])

    def _keep(
        self, key: Tuple[Any, ...], outputs: List[Any], inputs: List[Any], addresses: List[int]
    ) -> _Layout:
        if len(self._layouts) >= _MOST_LAYOUTS:
            self._layouts.clear()
        layout = self._layouts[key] = _Layout(outputs, inputs, addresses)
        return layout


def _aligned(size: int) -> int:
    return (size + _ALIGNMENT - 1) & -_ALIGNMENT

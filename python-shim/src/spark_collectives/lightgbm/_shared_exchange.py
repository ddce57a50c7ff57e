"""The choice of the exchange: memory that the ranks of one host share, or the group."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np

from .. import _semaphores
from .._host_memory import HostSegment, Place
from .._memory import Segment
from ..process_group import ProcessGroup
from ..reduce_op import ReduceOp
from . import _ranks
from ._group_watch import GroupWatch
from ._host_exchange import HostExchange

#: The memory of each rank. Histograms of 50 columns have 200 KB.
_SEGMENT_BYTES = 1 << 20

#: The most ranks that share memory: their barrier and the pieces of each are small beside the rest.
_MOST_RANKS = 64


class SharedExchange:
    """An exchange in memory that the ranks share, and that memory."""

    def __init__(self, group: ProcessGroup, own: HostSegment, places: Sequence[Place]) -> None:
        """Map the memory of all ranks.

        :raises OSError: if it cannot be opened here, or is another file
        :raises ValueError: if it is too short
        """
        self._group = group
        self._own = own
        self._segments: List[Segment] = [
            own.segment if rank == group.rank else place.map(group._task)
            for rank, place in enumerate(places)
        ]
        self._watch = GroupWatch(group)
        self.exchange = HostExchange(
            group.rank,
            [each.address for each in self._segments],
            _SEGMENT_BYTES,
            self._watch,
        )

    def start(self) -> None:
        """Begin to watch the group, once all ranks share their memory."""
        self._watch.start()

    def check(self) -> None:
        """Raise if the group was seen to have failed."""
        self._watch.check()

    def close(self) -> None:
        """Leave the exchange; its memory may be used by the group's next one."""
        self.exchange.leave()
        self._watch.stop()
        self._group._operations.host_memory.give_back(self._own)

    def require_group(self) -> None:
        """Raise if the group has failed, even just now."""
        self._group._operations.check()


def share(group: Any) -> Optional[SharedExchange]:
    """Make an exchange in memory that the ranks of the group share.

    A collective: all ranks return one, or all return None, where they are not on one host, cannot
    map each other's memory, or may not by the group's settings.

    :raises CollectiveError: if the group fails
    """
    if not isinstance(group, ProcessGroup) or not 1 < group.size <= _MOST_RANKS:
        return None
    if group.local_size < group.size:
        return None
    kind = _semaphores.kind()
    own = group._operations.host_memory.take(_SEGMENT_BYTES) if kind else None
    given = _ranks.gathered(group, (kind, None if own is None else own.place))
    # All ranks have left an earlier exchange now, so its memory can be used again.
    shared = None
    if own is not None and all(each == kind and place for each, place in given):
        try:
            shared = SharedExchange(group, own, [place for _, place in given])
            shared.exchange.prepare()
        except (OSError, ValueError):
            shared = None
    everybody = np.array([shared is not None], np.uint8)
    group.all_reduce(everybody, ReduceOp.BAND)
    if shared is not None and everybody[0]:
        shared.start()
        return shared
    if own is not None:
        group._operations.host_memory.give_back(own)
    return None

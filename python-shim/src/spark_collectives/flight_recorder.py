"""The flight recorder of a rank, and the stacks of its threads."""

from __future__ import annotations

import json
import sys
import threading
import traceback
from typing import Any, Dict, List

from . import _codes, _frames
from ._operations import Operations


class FlightRecorder:
    """The recent operations of one rank: what they were, how far they came, and when.

    Asks no other rank, and may be used when the group has failed. Of an all-reduce in parts there
    is a record for each part.
    """

    def __init__(self, operations: Operations, group: str) -> None:
        self._operations = operations
        self._group = group

    def records(self) -> List[Dict[str, Any]]:
        """Return the group's records that have not been overwritten, oldest first.

        Each has the keys of an entry of c10d's recorder, such as ``profiling_name``, ``state`` and
        ``input_sizes``.
        """
        return [each for each in self.dump()["entries"] if each["process_group"][0] == self._group]

    def dump(
        self, *, include_collectives: bool = True, only_active: bool = False
    ) -> Dict[str, Any]:
        """Return the contents of this rank's recorder, for all groups of the rank.

        In the layout of c10d's dumps: ``entries``, ``pg_config`` and ``pg_status`` besides others.

        :param include_collectives: whether there are records, or only the groups and how far they
            have come
        :param only_active: whether records of operations that have ended are left out
        """
        reply = self._operations.call(
            _codes.DUMP, body=bytes((bool(include_collectives), bool(only_active)))
        )
        found: Dict[str, Any] = json.loads(reply.next_text())
        return found

    def dump_all_ranks(self, reason: str) -> None:
        """Make all ranks send their dumps to the driver, as they do when a group fails.

        Does not wait for the dumps. Threads of the JVMs make them, so ranks that are stuck in
        their own code dump too. The driver logs what they tell.

        :param reason: shown in the dumps
        :raises StoreError: if the store cannot be reached
        """
        self._operations.call(_codes.DUMP_ALL_RANKS, body=_frames.pack_text(reason))


def stacks() -> str:
    """Return the stacks of all threads of this Python process, as text."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f'Thread "{names.get(ident, ident)}", most recent call last:\n'
        + "".join(traceback.format_stack(frame))
        for ident, frame in sys._current_frames().items()
    )

"""The flight recorder of a rank, and the stacks of its threads."""

from __future__ import annotations

import json
import sys
import threading
import traceback
from typing import Any, Dict, List

from . import _codes, _frames
from ._frames import Request
from ._operations import Operations


class FlightRecorder:
    """The recent operations of one rank: what they were, how far they came, and when.

    Can be used when the group has failed. An all-reduce in parts has a record for each part.
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

        In the layout of c10d's dumps: ``entries``, ``pg_config``, ``pg_status`` and others.

        :param include_collectives: whether to include records, not only the groups' status
        :param only_active: whether to leave out operations that have ended
        """
        reply = self._operations.call(
            Request(_codes.DUMP, body=bytes((bool(include_collectives), bool(only_active))))
        )
        found: Dict[str, Any] = json.loads(reply.next_text())
        return found

    def dump_all_ranks(self, reason: str) -> None:
        """Make all ranks send their dumps to the driver, as they do when a group fails.

        Does not wait for the dumps. Ranks that are stuck in their own code dump too. The driver
        logs the findings.

        :param reason: shown in the dumps
        :raises StoreError: if the store cannot be reached
        """
        self._operations.call(Request(_codes.DUMP_ALL_RANKS, body=_frames.pack_text(reason)))


def stacks() -> str:
    """Return the stacks of all threads of this Python process, as text."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f'Thread "{names.get(ident, ident)}", most recent call last:\n'
        + "".join(traceback.format_stack(frame))
        for ident, frame in sys._current_frames().items()
    )

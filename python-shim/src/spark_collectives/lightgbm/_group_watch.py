"""Watches whether a group has failed, for ranks that wait for each other without it."""

from __future__ import annotations

import threading
from typing import Optional, Sequence

from .. import errors
from ..process_group import ProcessGroup

#: How often the executor's JVM is asked.
_SECONDS = 0.05


class GroupWatch:
    """Asks the executor's JVM, on a thread of its own, whether the group has failed.

    The JVM knows it: it watches the other ranks. A rank that trains looks here, which costs
    nothing, where a question of its own would cost as much as several exchanges.
    """

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        self._failure: Optional[BaseException] = None
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, name="collectives-lightgbm-watch", daemon=True
        )

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def _watch(self) -> None:
        try:
            while not self._over.wait(_SECONDS):
                self._group._operations.check()
        except BaseException as e:
            self._failure = e

    def check(self) -> None:
        """Raise if the group was seen to have failed, or this rank has aborted it."""
        if self._failure is None and self._group._operations.aborted:
            # The others wait for this rank: if it went on, they might be done before they hear.
            self._group._operations.check()
        if self._failure is not None:
            raise self._failure

    def timeout(self) -> float:
        """Return how long a rank may wait for the others, in seconds."""
        return self._group._operations.longest_seconds()

    def give_up(self, waited: float, missing: Sequence[int], left: Sequence[int]) -> Exception:
        """End the group on all ranks, and return what this rank raises.

        :param missing: the ranks that have not come
        :param left: those of them that have left LightGBM's network
        """
        group = self._group
        text = (
            f'LightGBM\'s collective in group "{group.name}" was given up on rank {group.rank} of '
            f"{group.size} after {waited:.1f} s: {_named(missing)} did not come"
        )
        if left:
            text += f", and {_named(left)} left LightGBM's network: did all ranks train alike?"
        group.abort(text)
        error = errors.CollectiveTimeoutError(text)
        error.missing_ranks = tuple(missing)
        return error

    def stop(self) -> None:
        """End the thread."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()


def _named(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"

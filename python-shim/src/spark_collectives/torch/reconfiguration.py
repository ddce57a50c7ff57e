"""The changes of a group's members, as torch asks for them: its ``reconfigure``."""

from __future__ import annotations

from typing import Any

from ..process_group import ProcessGroup
from ..reconfigurable_group import ReconfigurableGroup
from . import errors, private
from .work import SparkWork, seconds
from .work_factory import WorkFactory


class Reconfiguration(WorkFactory):
    """The rank and the size of a group, which change with its members, and the change itself.

    ``init_process_group("spark", enable_reconfigure=True)`` makes a group whose members can be
    changed. It has none until the first change, and connects nobody.
    """

    group: ProcessGroup

    # torch's code in C++ calls the first two, its code in Python the others.
    def getRank(self) -> int:
        """Return this rank in the group."""
        return self.group.rank

    def getSize(self) -> int:
        """Return the number of ranks in the group."""
        return self.group.size

    rank, size = getRank, getSize

    @property
    def supports_reconfigure(self) -> bool:
        """Whether the members of this group can be changed."""
        return isinstance(self.group, ReconfigurableGroup)

    def get_reconfigure_handle(self) -> str:
        """Return what identifies this rank in the next change; a change replaces it."""
        return self._reconfigurable().handle

    def reconfigure(self, opts: Any) -> SparkWork:
        """Make a new group of some members in place of the present one.

        Blocks until all members have called it; the work that it returns is done. See
        :meth:`spark_collectives.ReconfigurableGroup.reconfigure`.

        :param opts: torch's ``ReconfigureOptions``; hints are for other backends
        """
        group = self._reconfigurable()
        limit = seconds(opts.timeout) or self._timeout
        try:
            group.reconfigure(opts.uuid, opts.handles, limit)
        except Exception as e:
            raise errors.of_torch(e) from None
        self._sequence = 0
        private.set_global_ranks(self, group.size)
        return self._work_of([], [], "reconfigure")

    def _reconfigurable(self) -> ReconfigurableGroup:
        group = self.group
        if isinstance(group, ReconfigurableGroup):
            return group
        since = "" if private.CAN_RECONFIGURE else f", which torch {private.VERSION} does not have"
        raise errors.ArgumentError(
            f"The members of {group!r} cannot be changed: for that, make it with "
            f'init_process_group("spark", enable_reconfigure=True){since}. '
            "spark_collectives.reconfigurable() makes such a group for arrays with any torch"
        )

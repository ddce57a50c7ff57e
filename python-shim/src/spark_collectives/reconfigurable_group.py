"""A group whose members change while its user keeps it."""

from __future__ import annotations

import operator
import struct
from typing import AbstractSet, Optional, Sequence, Union

from . import _backends, _codes, _connection, _debug_level, _frames, _task
from ._frames import Request
from ._numbering import Numbering
from ._operations import Operations
from ._task import Task
from .flight_recorder import FlightRecorder
from .process_group import ProcessGroup
from .work import Seconds, millis


class ReconfigurableGroup(ProcessGroup):
    """A :class:`ProcessGroup` whose rank, size and members change while its user keeps it.

    :func:`reconfigurable` makes it. It grows, shrinks, splits and merges by one call, and comes
    back after a failure, an abort or a missed deadline, as with c10d's ``reconfigure``. Until the
    first :meth:`reconfigure` its operations raise :class:`GroupClosedError`.

    ``handle`` identifies this rank in the next change: a string that each successful change
    replaces. Each rank passes it to the others, by a store or another group. All that are to be
    members then call :meth:`reconfigure` with the same number and the same handles; ranks that are
    left out do nothing.

    After a change the group is a world of its own, whose global ranks are its ranks. The timeout of
    :meth:`set_timeout` stays; groups made from it, its store and its records end with the members
    before, and arrays of :meth:`empty` are copied from then on. Await pending operations first.
    """

    def __init__(self, task: Task, reply: _frames.Reply, timeout_ms: int, backend: str) -> None:
        super().__init__(task, reply, timeout_ms, backend, Numbering())
        self.global_ranks = tuple(range(self.size))
        self.handle: str = reply.next_text()
        #: The name of the group of the present members, which records have.
        self._present = self.name

    def __repr__(self) -> str:
        return f"ReconfigurableGroup({self.name!r}, rank {self.rank} of {self.size})"

    def reconfigure(
        self,
        uuid: int,
        handles: Union[Sequence[str], AbstractSet[str]],
        timeout: Optional[Seconds] = None,
    ) -> None:
        """Make a new group of some members, this rank among them, in place of the present one.

        Blocks until all members have called it, for the smaller of ``timeout`` and
        ``spark.collectives.store.timeout``. If it raises, rank, size and group are as before, and
        the handle still holds; try again with another number.

        :param uuid: a number for this change, never used before for this group, not even by an
            attempt that failed; counting up is enough
        :param handles: one for each member: a list is in the order of the new ranks, and in a set
            members keep the order of their partitions
        :param timeout: by default the group's
        :raises ValueError: if the handles or the number cannot be used, or another member gives
            other handles
        :raises CollectiveTimeoutError: if the ``missing_ranks``, in the new order, have not come
        :raises PeerFailedError: if a member joined and then gave up
        """
        in_no_order = isinstance(handles, AbstractSet)
        texts = list(handles)
        if isinstance(handles, str) or not all(isinstance(each, str) for each in texts):
            raise TypeError(f"The handles must be a list or a set of texts, and are {handles!r}")
        number = operator.index(uuid)
        if not -(1 << 63) <= number < 1 << 63:
            raise ValueError(f"The uuid must be a number of 64 bits, and is {number}")
        before = self._operations
        wait_ms = before.limit(timeout)
        # Arrays of operations that have ended get their results from the memory of these members.
        before.pending.settle()
        reply = before.call(
            Request(
                _codes.RECONFIGURE,
                flags=_codes.CHOICE if in_no_order else 0,
                timeout_ms=wait_ms,
                body=struct.pack("<q", number) + _frames.pack_texts(texts),
            ),
            before.patience(wait_ms),
        )
        self.rank, self.size = reply.next_int(), reply.next_int()
        self.handle = reply.next_text()
        self.global_ranks = tuple(range(self.size))
        self._present = f"{self.name}/reconfigured-{number}"
        self._places = None
        self._operations = Operations(self._task, self._id, before.timeout_ms)
        before.close()

    def flight_recorder(self) -> FlightRecorder:
        """Return this rank's recorder of recent operations of the present members."""
        return FlightRecorder(self._operations, self._present)


def reconfigurable(
    timeout: Optional[Seconds] = None, backend: Optional[str] = None
) -> ReconfigurableGroup:
    """Make a group of this barrier task whose members are chosen later, and may change.

    Waits for no other task. Until its first :meth:`ReconfigurableGroup.reconfigure` the group has
    no members, the task's partition as its rank, and the number of tasks as its size. Each call
    makes another: the first ones of all tasks can meet, the second ones, and so on. The end of the
    task, and that of its world group, close it. Spark fails all tasks of a barrier stage when one
    fails, so a change helps only with ranks that are stuck or no longer needed.

    :param timeout: how long an operation may take; by default ``spark.collectives.timeout``
    :param backend: as :func:`init_process_group` takes it
    :raises RuntimeError: outside of a barrier task, or if the application lacks the plugin
    """
    name = _backends.checked(backend)
    task = _task.connect()
    wait_ms = millis(timeout)
    reply = task.connection().call(
        Request(_codes.RECONFIGURABLE, timeout_ms=wait_ms, body=_debug_level.pack_options(name)),
        task.store_wait + _connection.MARGIN_SECONDS,
    )
    return ReconfigurableGroup(task, reply, wait_ms, name or "spark")

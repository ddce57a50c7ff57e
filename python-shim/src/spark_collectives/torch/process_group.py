"""The process group of the backend ``"spark"``."""

from __future__ import annotations

import contextlib
import sys
from datetime import timedelta
from typing import Any, List, Optional, Sequence

import torch
import torch.distributed as dist
from torch.distributed.constants import default_pg_timeout

from .. import _debug_level, distributed
from .._completions import Completions
from ..errors import CollectiveError
from ..process_group import ProcessGroup
from . import devices, errors, group_options, host_memory, private
from .collectives import Collectives
from .exchanges import Exchanges
from .point_to_point import PointToPoint
from .reconfiguration import Reconfiguration
from .work import seconds


class SparkProcessGroup(
    Collectives,
    Exchanges,
    PointToPoint,
    Reconfiguration,
    dist.ProcessGroup,  # type: ignore[misc]
):
    """A group of tasks of a barrier stage, for ``torch.distributed``.

    ``torch.distributed.init_process_group("spark")`` creates it. ``group`` is the
    :class:`spark_collectives.ProcessGroup` that does the work. torch calls the methods, which have
    torch's semantics.
    """

    def __init__(self, group: ProcessGroup, store: Any, timeout: Optional[float]) -> None:
        dist.ProcessGroup.__init__(self, group.rank, group.size)
        self.group = group
        self._store = store
        self._timeout = timeout or group.timeout
        self._completions = Completions(f"collectives-torch-{group.name}")
        self._message_completions = Completions(
            f"collectives-torch-messages-{group.name}", in_order=False
        )
        self._name = ""
        self._description = ""
        #: The group of the package of whose ranks others are made: a shrunk default group, or one
        #: whose members change. None for the task's world.
        self._parent: Optional[ProcessGroup] = None
        #: The group that this one is the rest of. It stays open until this one is shut down,
        #: because the end of a group ends those that were made of it.
        self._origin: Optional[SparkProcessGroup] = None
        self._is_shrunk = False

    @classmethod
    def create(cls, options: Any, backend_options: Any = None) -> SparkProcessGroup:
        """Create the group for ``init_process_group`` or ``new_group``.

        :param backend_options: their ``pg_options``
        """
        if getattr(options, "enable_reconfigure", False):
            return cls._reconfigurable_of(options, backend_options)
        # Once torch's default group was shrunk, its ranks are those of the rest.
        default = dist.group.WORLD
        parent = default._parent if isinstance(default, SparkProcessGroup) else None
        world = parent or distributed.init_process_group()
        ranks = list(options.global_ranks_in_group) or list(range(world.size))
        if len(ranks) != options.group_size or ranks[options.group_rank] != world.rank:
            raise _misplaced(options, world)
        members = [world.global_ranks[each] for each in ranks]
        timeout = group_options.timeout(options.timeout, backend_options)
        return cls._of(parent, members, options.store, timeout, options.group_id)

    @classmethod
    def _of(
        cls,
        parent: Optional[ProcessGroup],
        ranks: Sequence[int],
        store: Any,
        timeout: Any,
        name: str,
    ) -> SparkProcessGroup:
        world = parent or distributed.init_process_group()
        # A new group even if it has all ranks: torch closes its groups, and the world group stays.
        with _torchs_debug_level():
            group = world.new_group(
                ranks, use_local_synchronization=True, description=f"torch {name}"
            )
        assert group is not None
        # A torch that does not ask passes its own default, and then Spark's setting applies.
        given = seconds(timeout)
        if timeout == default_pg_timeout and not private.ASKS_FOR_TIMEOUT:
            given = None
        made = cls(group, store, given)
        made._parent = parent
        return made

    @classmethod
    def _reconfigurable_of(cls, options: Any, backend_options: Any) -> SparkProcessGroup:
        timeout = seconds(group_options.timeout(options.timeout, backend_options))
        with _torchs_debug_level():
            group = distributed.reconfigurable(timeout)
        if (options.group_rank, options.group_size) != (group.rank, group.size):
            group.close()
            raise _misplaced(options, group)
        made = cls(group, options.store, timeout)
        made._parent = group
        return made

    # Properties of the group

    def getBackendName(self) -> str:
        """Return the name of the backend."""
        return "spark"

    name = _get_backend_name = getBackendName

    @property
    def group_name(self) -> str:
        """The name that torch set; torch's own property is empty without a C++ backend."""
        return self._name

    def _set_group_name(self, name: str) -> None:
        super()._set_group_name(name)
        self._name = name

    @property
    def group_desc(self) -> str:
        """The description that torch set."""
        return self._description

    def _set_group_desc(self, description: str) -> None:
        super()._set_group_desc(description)
        self._description = description

    @property
    def _device_types(self) -> List[torch.device]:
        return devices.available()

    def get_backend(self, device: torch.device) -> Any:
        """Return the backend for a device: this group."""
        return self

    _get_backend = get_backend

    def get_group_store(self) -> Any:
        """Return the store with which torch created the group."""
        return self._store

    supports_coalescing = False
    supports_splitting = hasattr(dist.ProcessGroup, "split_group")
    supports_shrinking = private.CAN_SHRINK

    # torch prepares communicators of NCCL with the next two; here there is nothing to prepare.
    def eager_connect_single_device(self, device: Any = None) -> None:
        """Do nothing: the group is connected."""

    def perform_nocolor_split(self, device: Any = None) -> None:
        """Do nothing: ranks outside of a group take no part in its creation."""

    def split_group(
        self,
        new_ranks: Sequence[int],
        timeout: Optional[timedelta] = None,
        opts: Any = None,
        group_name: Optional[str] = None,
        group_desc: Optional[str] = None,
        device_types: Any = None,
    ) -> Optional[SparkProcessGroup]:
        """Create a group of some ranks of this one; return None on all other ranks.

        :param timeout: by default that of the options, else this group's
        :param opts: torch's ``Backend.Options``; others raise a ``TypeError``
        """
        group_options.require("split_group", opts)
        if self.group.rank not in new_ranks:
            return None
        ranks = [self.group.global_ranks[each] for each in new_ranks]
        store = dist.PrefixStore(f"{group_name}/", self._store)
        limit = seconds(timeout) or group_options.seconds_in(opts) or self._timeout
        made = type(self)._of(self._parent, ranks, store, limit, group_name or "split")
        made._set_group_name(group_name or made.group.name)
        made._set_group_desc(group_desc or "")
        return made

    def shrink(
        self, ranks_to_exclude: Sequence[int], shrink_flags: int = 0, opts: Any = None
    ) -> SparkProcessGroup:
        """Create a group without some ranks; the others call it.

        :param shrink_flags: 1, torch's ``SHRINK_ABORT``, aborts this group first
        :param opts: torch's ``Backend.Options``, with another timeout; others raise a ``TypeError``
        """
        group_options.require("shrink", opts)
        try:
            group = self.group.shrink(ranks_to_exclude, abort=bool(shrink_flags & 1))
        except Exception as e:
            raise errors.of_torch(e) from None
        timeout = group_options.seconds_in(opts) or self._timeout
        made = type(self)(group, self._store, timeout)
        made._parent = group if self is dist.group.WORLD else self._parent
        made._origin, self._is_shrunk = self, True
        return made

    def empty(self, shape: Any, dtype: Optional[torch.dtype] = None) -> torch.Tensor:
        """Create a tensor in memory that operations of this group use without a copy.

        See :meth:`spark_collectives.ProcessGroup.empty`; its contents are undefined.
        """
        return host_memory.empty(self.group, shape, dtype)

    # The life of the group

    def set_timeout(self, timeout: timedelta) -> None:
        """Set the timeout of operations that begin from now on."""
        self._timeout = seconds(timeout) or self.group.timeout

    _set_default_timeout = set_timeout

    def shutdown(self) -> None:
        """Leave the group; while an exception is being handled, abort it with that as the reason.

        Otherwise the other ranks would wait for a rank that destroys its groups as it fails. A
        group that was shrunk is left with the one that has taken its place.
        """
        if self._is_shrunk:
            return
        failure = sys.exc_info()[1]
        # A failed group has raised its error in an operation already, and of a task that has ended
        # nothing is left.
        with contextlib.suppress(CollectiveError):
            if isinstance(failure, Exception) and not isinstance(failure, CollectiveError):
                what = f"{type(failure).__name__}: {failure}"
                self.group.abort(f"rank {self.group.rank} failed: {what}")
            self.group.close()
        if self._origin is not None:
            self._origin._is_shrunk = False
            self._origin.shutdown()

    def abort(self) -> None:
        """Abort the group on every rank."""
        self.group.abort(f"rank {self.group.rank} called abort() of torch's process group")

    def get_error(self) -> Any:
        """Return torch's ``ErrorType.SUCCESS``, as gloo does: operations raise their errors."""
        return private.NO_ERROR


def _torchs_debug_level() -> contextlib.AbstractContextManager[None]:
    """Make groups with torch's debug level, unless theirs is a higher one."""
    return _debug_level.at_least(_debug_level.DebugLevel[dist.get_debug_level().name])


def _misplaced(options: Any, group: ProcessGroup) -> ValueError:
    return ValueError(
        f"Rank {options.group_rank} of {options.group_size} was given, and this task is "
        f"rank {group.rank} of {group.size}: the rank of a task is its partition. Leave "
        "rank and world_size out"
    )

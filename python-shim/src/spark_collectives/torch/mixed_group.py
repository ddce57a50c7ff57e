"""Groups that have another backend for the tensors of some devices, such as NCCL for a GPU."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any, FrozenSet, Iterable, List, Optional, Sequence

import torch

from . import devices, errors, private
from .mixed_barrier import MixedBarrier
from .process_group import SparkProcessGroup

#: The methods that belong to the device of their tensors, with the names of all versions of torch.
_OF_TENSORS = (
    "broadcast",
    "allreduce",
    "allreduce_sparse",
    "allreduce_coalesced",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "_reduce_scatter_base",
    "reduce_scatter_single_coalesced",
    "reduce_scatter_tensor_coalesced",
    "allgather",
    "all_gather_single",
    "_allgather_base",
    "all_gather_single_coalesced",
    "allgather_into_tensor_coalesced",
    "allgather_coalesced",
    "gather",
    "gather_single",
    "gather_into_tensor",
    "scatter",
    "all_to_all_single",
    "alltoall_base",
    "alltoall",
    "send",
    "recv",
    "recv_anysource",
    "recvAnysource",
)

#: The names of torch's own group where they are others.
_IN_BASE = {
    "allreduce_sparse": "allreduce",
    "recvAnysource": "recv_anysource",
    "start_coalescing": "_start_coalescing",
    "end_coalescing": "_end_coalescing",
}

_OF_DEVICE = ("start_coalescing", "end_coalescing", "_start_coalescing", "_end_coalescing")


class MixedProcessGroup(SparkProcessGroup):
    """A group of the backend ``"spark"`` with other backends for some devices.

    ``torch.distributed.init_process_group("cpu:spark,cuda:nccl")`` creates it. An operation runs on
    the backend of the device of its tensors, and fails as that backend does. A barrier is that of
    the device that it is given, else of the device to which the group is bound, else of this
    backend.
    """

    #: torch's own group, which has the other backends, if there are any.
    base: Any = None
    #: The kinds of devices that have them.
    _others: FrozenSet[str] = frozenset()

    #: It would have to shrink all of its backends, and torch shrinks one.
    supports_shrinking = False

    def attach(self, base: Any) -> MixedProcessGroup:
        """Take the other backends from a group of torch; return this group."""
        self.base = base
        self._others = frozenset(each.type for each in base._device_types)
        bound = getattr(base, "bound_device_id", None)
        if bound is not None:
            self.bound_device_id = bound
        return self

    def _is_of_other(self, device: Any) -> bool:
        return device is not None and torch.device(device).type in self._others

    def get_backend(self, device: torch.device) -> Any:
        """Return the backend for a device: this group, or one that is not written in Python."""
        return self.base._get_backend(device) if self._is_of_other(device) else self

    _get_backend = get_backend

    @property
    def _device_types(self) -> List[torch.device]:
        own = [each for each in devices.available() if each.type not in self._others]
        return own if self.base is None else own + list(self.base._device_types)

    def _set_group_name(self, name: str) -> None:
        super()._set_group_name(name)
        # One that is split off has its name already.
        if self.base is not None:
            self.base._set_group_name(name)

    def _set_group_desc(self, description: str) -> None:
        super()._set_group_desc(description)
        if self.base is not None:
            self.base._set_group_desc(description)

    def set_timeout(self, timeout: timedelta) -> None:
        """Set the timeout of operations that begin from now on, on all backends."""
        super().set_timeout(timeout)
        # Older versions have no such call of a group; they ask each backend.
        if hasattr(self.base, "set_timeout"):
            self.base.set_timeout(timeout)

    def barrier(self, opts: Any = None, timeout: Any = None) -> Any:
        """Wait until all ranks have called it, on the backend of a device."""
        device = getattr(opts, "device", None)
        if device is None and getattr(opts, "device_ids", None):
            device = next(iter(self._others))
        if device is None:
            device = self.bound_device_id
        if self._is_of_other(device):
            pending = self.group._operations.pending
            earlier, messages = pending.collectives(), pending.messages()
            work = self.base.barrier(opts) if opts is not None else self.base.barrier()
            return work if work is None else MixedBarrier(work, earlier, messages)
        return super().barrier(opts, timeout)

    def split_group(
        self,
        new_ranks: Sequence[int],
        timeout: Optional[timedelta] = None,
        opts: Any = None,
        group_name: Optional[str] = None,
        group_desc: Optional[str] = None,
        device_types: Any = None,
    ) -> Optional[SparkProcessGroup]:
        """Create a group of some ranks; called by all ranks of this group.

        :param device_types: the devices whose other backends it has; by default all
        """
        base = None
        only = {}
        if device_types is not None:
            # Older versions of torch do not know this argument.
            only["device_types"] = [each for each in device_types if self._is_of_other(each)]
        if only != {"device_types": []}:
            base = self.base.split_group(
                new_ranks,
                timeout=timeout,
                opts=opts,
                group_name=group_name,
                group_desc=group_desc,
                **only,
            )
        made = super().split_group(new_ranks, timeout, opts, group_name, group_desc)
        if base is not None and isinstance(made, MixedProcessGroup):
            made.attach(base)
        return made

    def shutdown(self) -> None:
        """Leave the group, and shut its other backends down.

        While an exception is being handled they are aborted: their operations may wait for a rank
        that does not come.
        """
        how = "shutdown" if sys.exc_info()[1] is None else "abort"
        try:
            super().shutdown()
        finally:
            self._close_others(how)

    def abort(self) -> None:
        """Abort the group on every rank, with its other backends."""
        try:
            super().abort()
        finally:
            self._close_others("abort")

    def _close_others(self, how: str) -> None:
        if self.base is None:
            return
        close = getattr(self.base, how, None)
        if close is not None:
            close()
            return
        # Older versions close backends one by one, under another name.
        for device in self.base._device_types:
            close = getattr(self.base._get_backend(device), f"_{how}", None)
            if close is not None:
                close()


def _device_of(values: Iterable[Any]) -> Optional[torch.device]:
    """Return the device of the first tensor of arguments, which may be lists, and lists of them."""
    for value in values:
        if isinstance(value, torch.Tensor):
            return value.device
        if isinstance(value, (list, tuple)):
            found = _device_of(value)
            if found is not None:
                return found
    return None


def _of_tensors(name: str) -> Any:
    own, of_base = getattr(SparkProcessGroup, name), _IN_BASE.get(name, name)

    def call(self: MixedProcessGroup, *arguments: Any, **named: Any) -> Any:
        if self._is_of_other(_device_of((*arguments, *named.values()))):
            return getattr(self.base, of_base)(*arguments, **named)
        return own(self, *arguments, **named)

    call.__doc__ = own.__doc__
    return call


def _of_device(name: str) -> Any:
    own, of_base = getattr(SparkProcessGroup, name), _IN_BASE.get(name, name)

    def call(self: MixedProcessGroup, device: Any = None) -> Any:
        if self._is_of_other(device):
            return getattr(self.base, of_base)(device)
        return own(self, device)

    call.__doc__ = own.__doc__
    return call


def create(options: Any, backend_options: Any = None) -> SparkProcessGroup:
    """Create a group for ``init_process_group`` or ``new_group``, with the backends it asks for."""
    base = private.base_group(options)
    if base is None:
        return SparkProcessGroup.create(options, backend_options)
    if getattr(options, "enable_reconfigure", False):
        raise errors.ArgumentError(
            "A group with multiple backends cannot change its members: pass "
            'enable_reconfigure=True for the backend "spark" alone'
        )
    made = MixedProcessGroup.create(options, backend_options)
    assert isinstance(made, MixedProcessGroup)
    return made.attach(base)


for _name in _OF_TENSORS:
    setattr(MixedProcessGroup, _name, _of_tensors(_name))
for _name in _OF_DEVICE:
    setattr(MixedProcessGroup, _name, _of_device(_name))

"""The streams of devices other than the CPU."""

from __future__ import annotations

import functools
from typing import Any, List, Optional, Sequence

import torch


class DeviceStreams:
    """The streams of one device: that of the calling thread, and one for copies. Thread-safe.

    A device without streams does everything in the order of the calls.
    """

    def __init__(self, device: torch.device) -> None:
        #: torch.cuda, or the module of another kind of device.
        self._module: Any = getattr(torch, device.type, None)
        self._device = device
        # A copy in the stream of a computation would wait for what is put there meanwhile.
        self._copies: Any = None
        stream: Any = getattr(self._module, "Stream", None)
        if stream is not None and hasattr(self._module, "current_stream"):
            self._copies = stream(device)

    @property
    def exist(self) -> bool:
        """Whether the device has streams."""
        return self._copies is not None

    def mark(self) -> Any:
        """Return an event after what the calling thread has put into its stream."""
        if self._copies is None:
            return None
        return self._module.current_stream(self._device).record_event()

    def wait_for(self, event: Any) -> None:
        """Let the copies that follow wait for an event, if there is one."""
        if event is not None:
            self._copies.wait_event(event)

    def copy(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """Begin to copy a tensor of the host to one of the device, which is alive until then."""
        # The attribute data: an operation is no change in place for autograd.
        if self._copies is None:
            target.data.copy_(source)
            return
        with self._module.stream(self._copies):
            target.data.copy_(source, non_blocking=True)

    def synchronize(self) -> None:
        """Wait, on the host, for the copies."""
        if self._copies is not None:
            self._copies.synchronize()
        else:
            self.synchronize_current()

    def synchronize_current(self) -> None:
        """Wait, on the host, for what the calling thread has put into its stream."""
        if self._copies is not None:
            self._module.current_stream(self._device).synchronize()
        elif hasattr(self._module, "synchronize"):
            self._module.synchronize()


@functools.cache
def streams_of(device: torch.device) -> DeviceStreams:
    """Return the streams of a device."""
    return DeviceStreams(device)


def with_streams(tensors: Sequence[torch.Tensor]) -> List[torch.device]:
    """Return the devices of the tensors that have streams, each once."""
    found = {each.device for each in tensors if not each.is_cpu}
    return sorted((each for each in found if streams_of(each).exist), key=str)


@functools.cache
def available() -> List[torch.device]:
    """Return the kinds of devices whose tensors a group takes: the CPU, and an accelerator."""
    found = _accelerator()
    return [torch.device("cpu")] if found is None else [torch.device("cpu"), found]


def _accelerator() -> Optional[torch.device]:
    accelerator: Any = getattr(torch, "accelerator", None)
    if accelerator is None:
        return torch.device("cuda") if torch.cuda.is_available() else None
    if not accelerator.is_available():
        return None
    return torch.device(accelerator.current_accelerator().type)

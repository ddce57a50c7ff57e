"""The tensors of other devices than the CPU, which operations use by way of the host."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from .._memory import SMALLEST
from ..process_group import ProcessGroup
from . import host_memory
from .devices import DeviceStreams, streams_of

After = Optional[Callable[[], None]]


class HostCopies:
    """The copies on the host of the tensors of one operation.

    A CPU tensor is used as it is. Of a tensor of another device the operation gets a copy; what it
    writes is copied back once it has succeeded. A copy waits, on the host, for what the calling
    thread has put into the current stream of the device, and for nothing else.
    """

    __slots__ = ("_back", "_begun", "_group", "_operation")

    def __init__(self, group: ProcessGroup, operation: str) -> None:
        self._group = group
        self._operation = operation
        #: The tensors that the operation writes, and their copies.
        self._back: List[Tuple[torch.Tensor, torch.Tensor]] = []
        #: For each device, what was in the stream when the operation began.
        self._begun: Dict[torch.device, Any] = {}

    def read(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return what stands for a tensor that the operation only reads."""
        return tensor if tensor.is_cpu else self._filled(tensor)

    def write(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return what stands for a tensor that the operation only writes."""
        if tensor.is_cpu:
            return tensor
        host = self._empty(tensor)
        # Something in the stream may still read the tensor; of one that is read, the copy waits.
        if tensor.device not in self._begun:
            self._begun[tensor.device] = streams_of(tensor.device).mark()
        self._back.append((tensor, host))
        return host

    def update(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return what stands for a tensor that the operation reads and then writes."""
        if tensor.is_cpu:
            return tensor
        host = self._filled(tensor)
        self._back.append((tensor, host))
        return host

    def reads(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """Return what stands for tensors that the operation only reads."""
        return [each if each.is_cpu else self._filled(each) for each in tensors]

    def writes(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """Return what stands for tensors that the operation only writes."""
        return [each if each.is_cpu else self.write(each) for each in tensors]

    def updates(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """Return what stands for tensors that the operation reads and then writes."""
        return [each if each.is_cpu else self.update(each) for each in tensors]

    def before(self, after: After) -> After:
        """Return what is to be done when the operation has succeeded: the copies, and then this."""
        if not self._back:
            return after

        def copy_and_go_on() -> None:
            self.copy_back()
            if after is not None:
                after()

        return copy_and_go_on

    def copy_back(self) -> None:
        """Copy the results to their devices; all streams see them when this returns."""
        back, self._back = self._back, []
        used: Dict[torch.device, DeviceStreams] = {}
        try:
            for tensor, host in back:
                device = tensor.device
                streams = used.get(device)
                if streams is None:
                    streams = used[device] = streams_of(device)
                    streams.wait_for(self._begun.get(device))
                streams.copy(tensor, host)
        finally:
            # Also if a copy cannot begin: the memory of those that have begun is used again then.
            for streams in used.values():
                streams.synchronize()

    def _filled(self, tensor: torch.Tensor) -> torch.Tensor:
        host = self._empty(tensor)
        try:
            return host.copy_(tensor.detach())
        except NotImplementedError as e:
            raise self._refusal(tensor) from e

    def _empty(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_meta or tensor.layout is not torch.strided:
            raise self._refusal(tensor)
        if tensor.numel() * tensor.element_size() < SMALLEST:
            # The operation has memory for small tensors, and lends it to nobody.
            return torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu")
        return host_memory.empty(self._group, tensor.shape, tensor.dtype)

    def _refusal(self, tensor: torch.Tensor) -> ValueError:
        return ValueError(
            f"{self._operation} of rank {self._group.rank}: a tensor of shape "
            f"{tuple(tensor.shape)} is on device {tensor.device} with layout {tensor.layout}, and "
            "cannot be copied to the host. Pass a dense tensor of the CPU or of an accelerator"
        )


def synchronize(tensors: Sequence[torch.Tensor]) -> None:
    """Wait, on the host, for what this thread has put into the streams of the tensors' devices."""
    for device in {each.device for each in tensors if not each.is_cpu}:
        streams_of(device).synchronize_current()

"""The point-to-point messages that torch sends and receives through a process group."""

from __future__ import annotations

from typing import Any, Optional

import torch

from .arguments import refuse
from .work import SparkWork
from .work_factory import WorkFactory


class PointToPoint(WorkFactory):
    """Messages with the names and the arguments that torch's code uses."""

    def send(self, tensors: Any, dstRank: int, tag: int = 0) -> SparkWork:
        """Send the tensor to one rank."""
        tensor = _single("send", tensors)
        return self._begin(
            None,
            None,
            [tensor],
            "send",
            lambda host, **options: self.group.send(host.read(tensor), dstRank, tag, **options),
            message=True,
        )

    def recv(self, tensors: Any, srcRank: Optional[int], tag: int = 0) -> SparkWork:
        """Receive from one rank."""
        tensor = _single("recv", tensors)
        return self._begin(
            None,
            None,
            [tensor],
            "recvAnySource" if srcRank is None else "recv",
            lambda host, timeout, **_: self.group.irecv(
                host.write(tensor), srcRank, tag, timeout=timeout
            ),
            message=True,
        )

    def recv_anysource(self, tensors: Any, tag: int = 0) -> SparkWork:
        """Receive from whichever rank sends first."""
        return self.recv(tensors, None, tag)

    recvAnysource = recv_anysource


def _single(call: str, tensors: Any) -> torch.Tensor:
    if isinstance(tensors, torch.Tensor):
        return tensors
    if len(tensors) != 1:
        refuse(call, f"takes a single tensor, and there are {len(tensors)}")
    found: torch.Tensor = tensors[0]
    return found

"""The point-to-point messages that torch sends and receives through a process group."""

from __future__ import annotations

from typing import Any, Optional

from .arguments import only
from .work import SparkWork
from .work_factory import WorkFactory


class PointToPoint(WorkFactory):
    """Messages with the names and the arguments that torch's code uses."""

    def send(self, tensors: Any, destination: int, tag: int = 0) -> SparkWork:
        """Send the tensor to one rank."""
        tensor = only(tensors)
        return self._begin(
            None,
            None,
            [tensor],
            "send",
            lambda **options: self.group.send(tensor, destination, tag, **options),
            own_thread=True,
        )

    def recv(self, tensors: Any, source: Optional[int], tag: int = 0) -> SparkWork:
        """Receive from one rank."""
        tensor = only(tensors)
        work = self.group.irecv(tensor, source, tag, timeout=self._timeout)
        return self._work_of([work], [tensor], "receive", own_thread=True)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> SparkWork:
        """Receive from whichever rank sends first."""
        return self.recv(tensors, None, tag)

    recvAnysource = recv_anysource

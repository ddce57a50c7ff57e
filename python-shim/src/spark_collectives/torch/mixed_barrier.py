"""Barriers of groups that have another backend for the tensors of some devices."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any, List, Optional

import torch
from torch.distributed import Work as TorchWork

from .. import _pending_works
from ..work import Work
from .work import seconds

_NO_TIMEOUT = timedelta(0)


class MixedBarrier(TorchWork):  # type: ignore[misc]
    """A barrier of another backend; after it, what came before it is in its tensors.

    The other backend knows nothing of the operations of this one. Its collectives have been called
    by all ranks when the barrier is done, and so are about to end. Of its messages, those are there
    that have come.
    """

    def __init__(self, work: Any, earlier: List[Work], messages: List[Work]) -> None:
        super().__init__()
        self._work = work
        self._earlier = earlier
        self._messages = messages

    def wait(self, timeout: timedelta = _NO_TIMEOUT) -> bool:
        """Wait until all ranks have called it, and this backend's collectives are done.

        With a timeout other than zero, raises as the other backend does if the barrier is not done
        by then, and returns False if only the collectives are not.
        """
        limit = seconds(timeout)
        if limit is None:
            return bool(self._work.wait()) and self._deliver()
        end = time.monotonic() + limit
        done = bool(self._work.wait(timeout))
        return done and self._deliver(max(end - time.monotonic(), 0.001))

    def _deliver(self, limit: Optional[float] = None) -> bool:
        """Wait for the collectives, and return whether they are done; deliver messages, too."""
        _pending_works.settle(self._messages)
        return _pending_works.wait_for(self._earlier, limit)

    def synchronize(self) -> None:
        """Wait as :meth:`wait` does, in the way of the other backend."""
        self._work.synchronize()
        self._deliver()

    def is_completed(self) -> bool:
        """Return whether the barrier and the collectives are done."""
        if not self._work.is_completed():
            return False
        _pending_works.settle(self._messages)
        return all(each.is_completed() for each in self._earlier)

    def is_success(self) -> bool:
        """Return whether the barrier is done and did not fail."""
        return bool(self._work.is_success())

    def exception(self) -> Any:
        """Return the error of the barrier, if it has one."""
        return self._work.exception()

    def result(self) -> List[torch.Tensor]:
        """Return no tensors."""
        return []

    def get_future(self) -> Any:
        """Return the future of the other backend's barrier, which delivers nothing of this one."""
        return self._work.get_future()

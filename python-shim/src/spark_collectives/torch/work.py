"""Works of ``torch.distributed``, and the thread that completes their futures."""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta
from typing import Any, Callable, List, Optional, Sequence

import torch
from torch.distributed import Work as TorchWork

from .._completions import Completions
from ..work import Work
from . import devices, errors

_log = logging.getLogger(__name__)

_NO_TIMEOUT = timedelta(0)
_making_futures = threading.Lock()


def seconds(timeout: Any) -> Optional[float]:
    """Convert a timeout of torch to seconds; None if it is unset, which is zero or less."""
    if timeout is None:
        return None
    value = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    return value if value > 0 else None


class SparkWork(TorchWork):  # type: ignore[misc]
    """One operation, or several that were coalesced.

    It proceeds whether or not somebody waits. Tensors have their results once :meth:`wait` has
    returned, :meth:`is_completed` has returned True, or the future is done; at the latest when a
    later collective of the group has been waited for, if it is no message, so the work may be
    dropped. :meth:`wait` raises an
    error whose text names the rank and its cause. The future raises a ``RuntimeError`` with the
    same text: torch converts errors in futures to that type.
    """

    def __init__(
        self,
        works: Sequence[Work],
        result: List[torch.Tensor],
        completions: Completions,
        description: str = "",
        group: Any = None,
        limit: float = 0.0,
        after: Optional[Callable[[], None]] = None,
    ) -> None:
        super().__init__()
        self._works = works
        self._result = result
        self._completions = completions
        self._description = description
        self._group = group
        self._limit = limit
        #: What is left to be done once all operations have succeeded.
        self._after = after
        self._lock = threading.Lock() if after is not None else None
        # Created with the future only, which few works have: an event takes microseconds.
        self._future: Any = None
        self._source: Any = None
        self._finished: Any = None
        self._error: Optional[BaseException] = None
        #: Whether somebody has its error.
        self._told = False
        self._end: Optional[Callable[[], None]] = None
        if after is not None:
            for work in works:
                work._when_known(self._settle_if_all_ended)

    def _settle_if_all_ended(self) -> None:
        """Do what is left to be done, though nobody may ever wait for this work."""
        # Each work calls this when its end is known, so the last one finds all of them known.
        if all(work._succeeded for work in self._works):
            self._do_rest()

    def end_with(self, end: Callable[[], None]) -> None:
        """Call a function in the thread that completes the future, once the operation has ended."""
        self._end = end
        self.get_future()

    def wait(self, timeout: timedelta = _NO_TIMEOUT) -> bool:
        """Wait until the operation is done; raise after the timeout, unless it is zero."""
        limit = seconds(timeout)
        if self._future is not None:
            if not self._finished.wait(limit):
                raise self._too_late(limit)
            if self._error is not None:
                raise self._error
            return True
        end = None if limit is None else time.monotonic() + limit
        for work in self._works:
            try:
                done = work.wait(None if end is None else max(end - time.monotonic(), 0.001))
            except Exception as e:
                for each in self._works:
                    each._leave_error()
                raise self._of_torch(e) from None
            if not done:
                raise self._too_late(limit)
        self.settle()
        return True

    def _of_torch(self, error: Exception) -> Exception:
        return errors.of_torch(error, errors.timed_out(self._limit, self._description))

    def _too_late(self, limit: Optional[float]) -> Exception:
        assert limit is not None
        return errors.CollectiveTimeoutError(
            f"{errors.timed_out(limit, self._description)}: the operation of {self._group!r} is "
            f"not done after {limit:g} s of waiting; it goes on, and can be waited for again"
        )

    def settle(self) -> None:
        """Do what is left to be done, once; all operations have succeeded.

        If it fails, as a copy to a device can, the work has failed for whoever asks.
        """
        self._do_rest()
        if self._lock is not None and self._error is not None:
            self._told = True
            raise self._error

    def _do_rest(self) -> None:
        """Do what is left to be done, once, and keep its error."""
        if self._lock is None:
            return
        with self._lock:
            after, self._after = self._after, None
            if after is None:
                return
            try:
                after()
            except Exception as e:
                # Its frames would keep this work, and be kept by it.
                self._error = self._of_torch(e).with_traceback(None)
            except BaseException as e:
                self._error = e
                raise

    def __del__(self) -> None:
        """Log an error of which nobody would hear."""
        if self._error is not None and not self._told:
            _log.warning("An operation that nobody has waited for has failed: %s", self._error)

    def is_completed(self) -> bool:
        """Return whether the operation is done, successfully or not."""
        if self._future is not None:
            return bool(self._finished.is_set())
        if not all(work.is_completed() for work in self._works):
            return False
        if self._lock is not None:
            self._settle_if_all_ended()
        return True

    def is_success(self) -> bool:
        """Return whether the operation is done and did not fail."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> Optional[BaseException]:
        """Return the error of the operation; None if it has none, or is not done."""
        self.is_completed()
        if self._future is not None or self._error is not None:
            self._told = True
            return self._error
        for work in self._works:
            error = work.exception()
            if error is not None:
                for each in self._works:
                    each._leave_error()
                return self._of_torch(error)
        return None

    def result(self) -> List[torch.Tensor]:
        """Return the tensors that the operation writes."""
        return self._result

    def synchronize(self) -> None:
        """Wait as :meth:`wait` does."""
        self.wait()

    def source_rank(self) -> int:
        """Return the rank in the group that sent a received message."""
        return self._works[0].source_rank() if self._works else -1

    _source_rank = source_rank

    def get_future(self) -> Any:
        """Return a future of the list of result tensors."""
        with _making_futures:
            if self._future is None:
                # C++ code that waits for a future, such as the reducer of DistributedDataParallel,
                # takes an exception set in it for a value. It sees an error if a callback raises.
                self._finished = threading.Event()
                self._source = self._make_future()
                self._future = self._source.then(self._outcome)
                if not self._works:
                    self._finish()
                    self._complete()
                    return self._future
                try:
                    self._completions.add(self._finish, self._complete)
                except RuntimeError:
                    self._future = None
                    raise
        return self._future

    def _make_future(self) -> Any:
        # Only a future that knows the devices lets streams wait for what its callbacks do there.
        return torch.futures.Future(devices=devices.with_streams(self._result) or None)

    def _outcome(self, _: Any) -> List[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self._result

    def _finish(self) -> None:
        # The future has its error.
        self._told = True
        try:
            for work in self._works:
                work.wait()
            self.settle()
        except Exception as e:
            self._error = self._of_torch(e)
        except BaseException as e:
            self._error = e
        end, self._end = self._end, None
        if end is not None:
            end()
        self._finished.set()

    def _complete(self) -> None:
        self._source.set_result(None)

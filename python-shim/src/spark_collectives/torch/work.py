"""Works of ``torch.distributed``, and the thread that completes their futures."""

from __future__ import annotations

import queue
import threading
import time
from datetime import timedelta
from typing import Any, List, Optional, Sequence

import torch
from torch.distributed import Work as TorchWork

from ..errors import CollectiveTimeoutError
from ..work import Work

_NO_TIMEOUT = timedelta(0)
_LINGER_SECONDS = 5.0
_making_futures = threading.Lock()


def seconds(timeout: Any) -> Optional[float]:
    """Convert a timeout of torch to seconds; None if it is unset, which is zero or less."""
    if timeout is None:
        return None
    value = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    return value if value > 0 else None


class Completions:
    """A thread that waits for works in the order in which they were begun, for their futures.

    The thread starts with the first work, and ends some seconds after the last. Thread-safe.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[SparkWork] = queue.SimpleQueue()
        self._running = False

    def add(self, work: SparkWork) -> None:
        """Complete the future of the work when the work is done."""
        with self._lock:
            self._waiting.put(work)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                work = self._waiting.get(timeout=_LINGER_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._waiting.empty():
                        self._running = False
                        return
                continue
            work._finish()
            del work  # frees its tensors before the next work comes


class SparkWork(TorchWork):  # type: ignore[misc]
    """One operation, or several that were coalesced.

    It proceeds whether or not somebody waits. Tensors have their results once :meth:`wait` has
    returned, :meth:`is_completed` has returned True, or the future is done. :meth:`wait` raises an
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
    ) -> None:
        super().__init__()
        self._works = works
        self._result = result
        self._completions = completions
        self._description = description
        self._group = group
        # Created with the future only, which few works have: an event takes microseconds.
        self._future: Any = None
        self._source: Any = None
        self._finished: Any = None
        self._error: Optional[BaseException] = None

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
            if not work.wait(None if end is None else max(end - time.monotonic(), 0.001)):
                raise self._too_late(limit)
        return True

    def _too_late(self, limit: Optional[float]) -> Exception:
        return CollectiveTimeoutError(
            f"{self._description} of {self._group!r} is not done after {limit:g} s of waiting; it "
            "goes on, and can be waited for again"
        )

    def is_completed(self) -> bool:
        """Return whether the operation is done, successfully or not."""
        if self._future is not None:
            return bool(self._finished.is_set())
        return all(work.is_completed() for work in self._works)

    def is_success(self) -> bool:
        """Return whether the operation is done and did not fail."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> Optional[BaseException]:
        """Return the error of the operation; None if it has none, or is not done."""
        if self._future is not None:
            return self._error
        return next((e for e in (work.exception() for work in self._works) if e is not None), None)

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
                self._source = torch.futures.Future()
                self._future = self._source.then(self._outcome)
                if self._works:
                    self._completions.add(self)
                else:
                    self._finish()
        return self._future

    def _outcome(self, _: Any) -> List[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self._result

    def _finish(self) -> None:
        try:
            for work in self._works:
                work.wait()
        except BaseException as e:
            self._error = e
        self._finished.set()
        self._source.set_result(None)

"""The works of a group's operations, and the coalescing of several into one."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import torch

from ..process_group import ProcessGroup
from ..work import Work
from .work import Completions, SparkWork, seconds

Tensors = List[torch.Tensor]


class WorkFactory:
    """Begins operations of a group, and creates their works."""

    group: ProcessGroup
    _timeout: float
    _completions: Completions
    _coalesced: Optional[List[SparkWork]] = None

    def start_coalescing(self, _: Any = None) -> None:
        """Begin to collect the works of this group; the operations begin at once all the same."""
        self._coalesced = []

    def end_coalescing(self, _: Any = None) -> SparkWork:
        """Return one work for all operations since :meth:`start_coalescing`."""
        works, self._coalesced = self._coalesced or [], None
        return self._combine(works, "coalesced operations")

    _start_coalescing = start_coalescing
    _end_coalescing = end_coalescing

    def _limit(self, opts: Any, timeout: Any) -> float:
        return seconds(timeout) or seconds(getattr(opts, "timeout", None)) or self._timeout

    def _begin(
        self,
        opts: Any,
        timeout: Any,
        result: Tensors,
        description: str,
        operation: Callable[..., Optional[Work]],
        own_thread: bool = False,
    ) -> SparkWork:
        # Newer versions of torch say that the caller waits at once; one request is then enough.
        asynchronous = getattr(opts, "asyncOp", True)
        work = operation(async_op=asynchronous, timeout=self._limit(opts, timeout))
        return self._work_of([] if work is None else [work], result, description, own_thread)

    def _work_of(
        self, works: List[Work], result: Tensors, description: str, own_thread: bool = False
    ) -> SparkWork:
        # A message may take long, and must not delay the futures of collectives.
        completions = Completions("collectives-torch-message") if own_thread else self._completions
        made = SparkWork(works, result, completions, description, self.group)
        if self._coalesced is not None:
            self._coalesced.append(made)
        return made

    def _combine(self, works: List[SparkWork], description: str) -> SparkWork:
        return self._work_of(
            [inner for each in works for inner in each._works],
            [tensor for each in works for tensor in each._result],
            description,
        )

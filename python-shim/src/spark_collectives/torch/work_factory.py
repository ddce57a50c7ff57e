"""The works of a group's operations, and the coalescing of several into one."""

from __future__ import annotations

import threading
from typing import Any, Callable, List, Optional, Sequence, Tuple

import torch

from .._completions import Completions
from ..process_group import ProcessGroup
from ..work import Work
from . import errors, profiling
from .staging import After, HostCopies
from .work import SparkWork, seconds

Tensors = List[torch.Tensor]


class WorkFactory:
    """Begins operations of a group, and creates their works."""

    group: ProcessGroup
    _timeout: float
    _completions: Completions
    _message_completions: Completions
    #: The works since :meth:`start_coalescing`, and the thread that has called it.
    _coalesced: Optional[Tuple[List[SparkWork], int]] = None
    #: The number of collectives that have begun.
    _sequence = 0

    def start_coalescing(self, _: Any = None) -> None:
        """Begin to collect the works of this group; the operations begin at once all the same."""
        self._coalesced = ([], threading.get_ident())

    def end_coalescing(self, _: Any = None) -> SparkWork:
        """Return one work for all operations since :meth:`start_coalescing`."""
        block, self._coalesced = self._coalesced, None
        return self._combine([] if block is None else block[0], "coalesced operations")

    _start_coalescing = start_coalescing
    _end_coalescing = end_coalescing

    def _get_sequence_number_for_group(self) -> int:
        return self._sequence

    def _limit(self, opts: Any, timeout: Any) -> float:
        return seconds(timeout) or seconds(getattr(opts, "timeout", None)) or self._timeout

    def _begin(
        self,
        opts: Any,
        timeout: Any,
        result: Tensors,
        description: str,
        operation: Callable[..., Optional[Work]],
        message: bool = False,
        after: After = None,
        inputs: Optional[Sequence[torch.Tensor]] = None,
        part: bool = False,
    ) -> SparkWork:
        """Begin an operation.

        :param operation: begins it; is given what stands for tensors on the host, and the options
        :param inputs: what this rank gives, for a profiler; by default the result
        :param part: whether it is one of several that are waited for together, and that a profiler
            shows together
        :param message: whether it is a message, which may take long, and so has a thread of its
            own for its future
        :param after: is called once, when the operation has succeeded
        """
        limit = self._limit(opts, timeout)
        given = result if inputs is None else inputs
        end = None if part else profiling.begin(description, given)
        # Newer versions of torch say that the caller waits at once; one request is then enough. A
        # profiler is told by the thread that sees the operation end, as gloo does it.
        asynchronous = part or end is not None or getattr(opts, "asyncOp", True)
        if not message:
            self._sequence += 1
        host = HostCopies(self.group, description)
        try:
            work = operation(host, async_op=asynchronous, timeout=limit)
        except Exception as e:
            if end is not None:
                end()
            raise errors.of_torch(e, errors.timed_out(limit, description)) from None
        return self._work_of(
            [] if work is None else [work],
            result,
            description,
            message,
            limit,
            host.before(after),
            end,
        )

    def _work_of(
        self,
        works: List[Work],
        result: Tensors,
        description: str,
        message: bool = False,
        limit: Optional[float] = None,
        after: After = None,
        end: Optional[profiling.End] = None,
    ) -> SparkWork:
        completions = self._message_completions if message else self._completions
        made = SparkWork(
            works, result, completions, description, self.group, limit or self._timeout, after
        )
        if end is not None:
            made.end_with(end)
        if not works:
            made.wait()
        block = self._coalesced
        if block is not None and block[1] == threading.get_ident():
            block[0].append(made)
        return made

    def _combine(
        self,
        works: List[SparkWork],
        description: str,
        after: After = None,
        end: Optional[profiling.End] = None,
    ) -> SparkWork:
        def all_after() -> None:
            for each in works:
                each.settle()
            if after is not None:
                after()

        return self._work_of(
            [inner for each in works for inner in each._works],
            [tensor for each in works for tensor in each._result],
            description,
            after=all_after,
            end=end,
        )

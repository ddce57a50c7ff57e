"""The operations that torch asks a process group for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Callable, List, Optional, Sequence

import torch
from torch.distributed import ReduceOp as TorchReduceOp

from ..process_group import ProcessGroup
from ..work import Work
from . import sparse
from .reductions import reduction
from .work import Completions, SparkWork, seconds

Tensors = List[torch.Tensor]


class Operations:
    """Collectives and messages by the names and with the arguments that torch's code uses.

    Names have changed between versions of torch, so some have two. ``opts`` are torch's objects
    with the root, the reduction and the timeout; where torch also takes these as they are, so do
    these methods. Each returns a :class:`SparkWork`, which is done already where torch says that
    the caller waits anyway.
    """

    group: ProcessGroup
    _timeout: float
    _completions: Completions
    _coalesced: Optional[List[SparkWork]] = None

    def broadcast(self, tensors: Any, opts: Any = None, timeout: Any = None) -> SparkWork:
        """Send the tensor of the root to all."""
        root = opts if isinstance(opts, int) else 0 if opts is None else opts.rootRank
        tensor = _only(tensors)
        return self._run(
            opts,
            timeout,
            [tensor],
            "broadcast",
            lambda **how: self.group.broadcast(tensor, root, **how),
        )

    def allreduce(self, tensors: Any, opts: Any = None, timeout: Any = None) -> SparkWork:
        """Reduce the tensor over all ranks, in place."""
        op = reduction(_reduce_op(opts))
        tensor = _only(tensors)
        if tensor.layout is torch.sparse_coo:
            sparse.all_reduce(self.group, tensor, op, self._limit(opts, timeout))
            return self._works([], [tensor], "all-reduce")
        return self._run(
            opts,
            timeout,
            [tensor],
            "all-reduce",
            lambda **how: self.group.all_reduce(tensor, op, **how),
        )

    allreduce_sparse = allreduce

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> SparkWork:
        """Reduce the tensors over all ranks, in place, as one operation."""
        op = reduction(_reduce_op(opts))
        return self._run(
            opts,
            None,
            list(tensors),
            "coalesced all-reduce",
            lambda **how: self.group.all_reduce_coalesced(tensors, op, **how),
        )

    def reduce(self, tensors: Any, opts: Any) -> SparkWork:
        """Reduce the tensor over all ranks, in place at the root."""
        op = reduction(opts.reduceOp)
        tensor = _only(tensors)
        return self._run(
            opts,
            None,
            [tensor],
            "reduce",
            lambda **how: self.group.reduce(tensor, opts.rootRank, op, **how),
        )

    def allgather(
        self, outputs: Any, inputs: Any, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Gather the tensor of all ranks on all ranks."""
        into: Tensors = outputs if isinstance(inputs, torch.Tensor) else _only(outputs)
        tensor = _only(inputs)
        return self._run(
            opts,
            timeout,
            into,
            "all-gather",
            lambda **how: self.group.all_gather(into, tensor, **how),
        )

    def all_gather_single(
        self, output: Any, tensor: Any, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Gather the tensor of all ranks in one tensor on all ranks."""
        return self._run(
            opts,
            timeout,
            [output],
            "all-gather",
            lambda **how: self.group.all_gather_into(output, tensor, **how),
        )

    _allgather_base = all_gather_single

    def all_gather_single_coalesced(
        self, outputs: Tensors, inputs: Tensors, opts: Any = None
    ) -> SparkWork:
        """Gather each of the tensors in one tensor on all ranks."""
        return self._each(
            [self.all_gather_single(*pair, opts) for pair in zip(outputs, inputs)], "all-gather"
        )

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def allgather_coalesced(
        self, outputs: List[Tensors], inputs: Tensors, opts: Any = None
    ) -> SparkWork:
        """Gather each of the tensors; ``outputs`` has a list for each rank."""
        return self._each(
            [
                self.allgather([[of_rank[i] for of_rank in outputs]], [tensor], opts)
                for i, tensor in enumerate(inputs)
            ],
            "all-gather",
        )

    def gather(self, outputs: List[Tensors], inputs: Tensors, opts: Any) -> SparkWork:
        """Gather the tensor of all ranks at the root."""
        into = _only(outputs) if outputs else []
        tensor = _only(inputs)
        return self._run(
            opts,
            None,
            into,
            "gather",
            lambda **how: self.group.gather(into, tensor, opts.rootRank, **how),
        )

    def gather_single(self, output: Optional[torch.Tensor], tensor: Any, opts: Any) -> SparkWork:
        """Gather the tensor of all ranks in one tensor at the root."""
        into: Tensors = []
        if self.group.rank == opts.rootRank:
            assert output is not None
            into = list(output.detach().view(self.group.size, -1).unbind(0))
        return self.gather([into] if into else [], [tensor], opts)

    gather_into_tensor = gather_single

    def scatter(self, outputs: Tensors, inputs: List[Tensors], opts: Any) -> SparkWork:
        """Give each rank one of the tensors of the root."""
        tensors = _only(inputs) if inputs else []
        output = _only(outputs)
        return self._run(
            opts,
            None,
            [output],
            "scatter",
            lambda **how: self.group.scatter(output, tensors, opts.rootRank, **how),
        )

    def reduce_scatter(
        self, outputs: Any, inputs: Any, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Reduce the tensors, one for each rank, and leave each rank its own."""
        op = reduction(_reduce_op(opts))
        tensors: Tensors = inputs if isinstance(outputs, torch.Tensor) else _only(inputs)
        output = _only(outputs)
        return self._run(
            opts,
            timeout,
            [output],
            "reduce-scatter",
            lambda **how: self.group.reduce_scatter(output, tensors, op, **how),
        )

    def reduce_scatter_single(
        self, output: Any, tensor: Any, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Reduce the tensor over all ranks, and leave each rank its part."""
        op = reduction(_reduce_op(opts))
        return self._run(
            opts,
            timeout,
            [output],
            "reduce-scatter",
            lambda **how: self.group.reduce_scatter_into(output, tensor, op, **how),
        )

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(
        self, outputs: Tensors, inputs: Tensors, opts: Any = None
    ) -> SparkWork:
        """Reduce each of the tensors, and leave each rank its parts."""
        return self._each(
            [self.reduce_scatter_single(*pair, opts) for pair in zip(outputs, inputs)],
            "reduce-scatter",
        )

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def all_to_all_single(
        self,
        output: Any,
        tensor: Any,
        output_splits: Optional[Sequence[int]] = None,
        input_splits: Optional[Sequence[int]] = None,
        opts: Any = None,
        timeout: Any = None,
    ) -> SparkWork:
        """Send parts of the tensor, one to each rank, and receive one from each."""
        return self._run(
            opts,
            timeout,
            [output],
            "all-to-all",
            lambda **how: self.group.all_to_all_into(
                output, tensor, output_splits, input_splits, **how
            ),
        )

    alltoall_base = all_to_all_single

    def alltoall(
        self, outputs: Tensors, inputs: Tensors, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Send each rank one of the tensors, and receive one from each."""
        return self._run(
            opts,
            timeout,
            list(outputs),
            "all-to-all",
            lambda **how: self.group.all_to_all(outputs, inputs, **how),
        )

    def barrier(self, opts: Any = None, timeout: Any = None) -> SparkWork:
        """Be done when all ranks have called it."""
        return self._run(opts, timeout, [], "barrier", lambda **how: self.group.barrier(**how))

    def monitored_barrier(
        self, timeout: Optional[timedelta] = None, wait_all_ranks: bool = False
    ) -> None:
        """Wait for all ranks, and name those that do not come."""
        self.group.monitored_barrier(seconds(timeout) or self._timeout, wait_all_ranks)

    # Messages

    def send(self, tensors: Any, destination: int, tag: int = 0) -> SparkWork:
        """Send the tensor to one rank."""
        tensor = _only(tensors)
        return self._run(
            None,
            None,
            [tensor],
            "send",
            lambda **how: self.group.send(tensor, destination, tag, **how),
            own_thread=True,
        )

    def recv(self, tensors: Any, source: Optional[int], tag: int = 0) -> SparkWork:
        """Receive from one rank."""
        tensor = _only(tensors)
        work = self.group.irecv(tensor, source, tag, timeout=self._timeout)
        return self._works([work], [tensor], "receive", own_thread=True)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> SparkWork:
        """Receive from whichever rank sends first."""
        return self.recv(tensors, None, tag)

    recvAnysource = recv_anysource

    # Coalescing: operations go on their way at once, and the end gives one work for all of them.

    def start_coalescing(self, _: Any = None) -> None:
        """Begin to note the works of this group."""
        self._coalesced = []

    def end_coalescing(self, _: Any = None) -> SparkWork:
        """Give one work for all since the beginning."""
        works, self._coalesced = self._coalesced or [], None
        return self._each(works, "coalesced operations")

    _start_coalescing = start_coalescing
    _end_coalescing = end_coalescing

    # How operations begin

    def _limit(self, opts: Any, timeout: Any) -> float:
        return seconds(timeout) or seconds(getattr(opts, "timeout", None)) or self._timeout

    def _run(
        self,
        opts: Any,
        timeout: Any,
        result: Tensors,
        description: str,
        operation: Callable[..., Optional[Work]],
        own_thread: bool = False,
    ) -> SparkWork:
        # Newer versions of torch tell that the caller waits at once: that is one request, not two.
        asynchronous = getattr(opts, "asyncOp", True)
        work = operation(async_op=asynchronous, timeout=self._limit(opts, timeout))
        return self._works([] if work is None else [work], result, description, own_thread)

    def _works(
        self, works: List[Work], result: Tensors, description: str, own_thread: bool = False
    ) -> SparkWork:
        # A message may be waited for while collectives come and go.
        completions = Completions("collectives-torch-message") if own_thread else self._completions
        made = SparkWork(works, result, completions, description, self.group)
        if self._coalesced is not None:
            self._coalesced.append(made)
        return made

    def _each(self, works: List[SparkWork], description: str) -> SparkWork:
        return self._works(
            [inner for each in works for inner in each._works],
            [tensor for each in works for tensor in each._result],
            description,
        )


def _only(values: Any) -> Any:
    """One tensor, of which torch makes a list: a process once had several devices."""
    if isinstance(values, torch.Tensor):
        return values
    if len(values) != 1:
        raise ValueError(
            f"One tensor is needed, or one list of tensors, and there are {len(values)}"
        )
    return values[0]


def _reduce_op(opts: Any) -> Any:
    if opts is None:
        return TorchReduceOp.SUM
    return getattr(opts, "reduceOp", opts)

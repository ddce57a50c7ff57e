"""The collectives that torch calls on a process group."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, List, Optional, Sequence

import torch

from . import sparse
from .arguments import only, reduce_op
from .reductions import reduction
from .work import SparkWork, seconds
from .work_factory import Tensors, WorkFactory


class Collectives(WorkFactory):
    """Collectives with the names and the arguments that torch's code uses.

    Names have changed between versions of torch, so some methods have two. ``opts`` are torch's
    objects with the root, the reduction and the timeout; where torch also passes these values
    themselves, the methods accept them. Each method returns a :class:`SparkWork`; it is done
    already if torch says that the caller waits anyway.
    """

    def broadcast(self, tensors: Any, opts: Any = None, timeout: Any = None) -> SparkWork:
        """Send the tensor of the root to all ranks."""
        root = opts if isinstance(opts, int) else 0 if opts is None else opts.rootRank
        tensor = only(tensors)
        return self._begin(
            opts,
            timeout,
            [tensor],
            "broadcast",
            lambda **options: self.group.broadcast(tensor, root, **options),
        )

    def allreduce(self, tensors: Any, opts: Any = None, timeout: Any = None) -> SparkWork:
        """Reduce the tensor over all ranks, in place."""
        op = reduction(reduce_op(opts))
        tensor = only(tensors)
        if tensor.layout is torch.sparse_coo:
            sparse.all_reduce(self.group, tensor, op, self._limit(opts, timeout))
            return self._work_of([], [tensor], "all-reduce")
        return self._begin(
            opts,
            timeout,
            [tensor],
            "all-reduce",
            lambda **options: self.group.all_reduce(tensor, op, **options),
        )

    allreduce_sparse = allreduce

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> SparkWork:
        """Reduce the tensors over all ranks, in place, as one operation."""
        op = reduction(reduce_op(opts))
        return self._begin(
            opts,
            None,
            list(tensors),
            "coalesced all-reduce",
            lambda **options: self.group.all_reduce_coalesced(tensors, op, **options),
        )

    def reduce(self, tensors: Any, opts: Any) -> SparkWork:
        """Reduce the tensor over all ranks, in place at the root."""
        op = reduction(opts.reduceOp)
        tensor = only(tensors)
        return self._begin(
            opts,
            None,
            [tensor],
            "reduce",
            lambda **options: self.group.reduce(tensor, opts.rootRank, op, **options),
        )

    def allgather(
        self, outputs: Any, inputs: Any, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Gather the tensors of all ranks on all ranks."""
        into: Tensors = outputs if isinstance(inputs, torch.Tensor) else only(outputs)
        tensor = only(inputs)
        return self._begin(
            opts,
            timeout,
            into,
            "all-gather",
            lambda **options: self.group.all_gather(into, tensor, **options),
        )

    def all_gather_single(
        self, output: Any, tensor: Any, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Gather the tensors of all ranks in one tensor on all ranks."""
        return self._begin(
            opts,
            timeout,
            [output],
            "all-gather",
            lambda **options: self.group.all_gather_into(output, tensor, **options),
        )

    _allgather_base = all_gather_single

    def all_gather_single_coalesced(
        self, outputs: Tensors, inputs: Tensors, opts: Any = None
    ) -> SparkWork:
        """Gather each of the tensors in one tensor on all ranks."""
        return self._combine(
            [self.all_gather_single(*pair, opts) for pair in zip(outputs, inputs)], "all-gather"
        )

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def allgather_coalesced(
        self, outputs: List[Tensors], inputs: Tensors, opts: Any = None
    ) -> SparkWork:
        """Gather each of the tensors; ``outputs`` has a list for each rank."""
        return self._combine(
            [
                self.allgather([[of_rank[i] for of_rank in outputs]], [tensor], opts)
                for i, tensor in enumerate(inputs)
            ],
            "all-gather",
        )

    def gather(self, outputs: List[Tensors], inputs: Tensors, opts: Any) -> SparkWork:
        """Gather the tensors of all ranks at the root."""
        into = only(outputs) if outputs else []
        tensor = only(inputs)
        return self._begin(
            opts,
            None,
            into,
            "gather",
            lambda **options: self.group.gather(into, tensor, opts.rootRank, **options),
        )

    def gather_single(self, output: Optional[torch.Tensor], tensor: Any, opts: Any) -> SparkWork:
        """Gather the tensors of all ranks in one tensor at the root."""
        into: Tensors = []
        if self.group.rank == opts.rootRank:
            assert output is not None
            into = list(output.detach().view(self.group.size, -1).unbind(0))
        return self.gather([into] if into else [], [tensor], opts)

    gather_into_tensor = gather_single

    def scatter(self, outputs: Tensors, inputs: List[Tensors], opts: Any) -> SparkWork:
        """Send each rank one of the tensors of the root."""
        tensors = only(inputs) if inputs else []
        output = only(outputs)
        return self._begin(
            opts,
            None,
            [output],
            "scatter",
            lambda **options: self.group.scatter(output, tensors, opts.rootRank, **options),
        )

    def reduce_scatter(
        self, outputs: Any, inputs: Any, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Reduce the tensors over all ranks; each rank gets the one at its index."""
        op = reduction(reduce_op(opts))
        tensors: Tensors = inputs if isinstance(outputs, torch.Tensor) else only(inputs)
        output = only(outputs)
        return self._begin(
            opts,
            timeout,
            [output],
            "reduce-scatter",
            lambda **options: self.group.reduce_scatter(output, tensors, op, **options),
        )

    def reduce_scatter_single(
        self, output: Any, tensor: Any, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Reduce the tensor over all ranks; each rank gets one part of it."""
        op = reduction(reduce_op(opts))
        return self._begin(
            opts,
            timeout,
            [output],
            "reduce-scatter",
            lambda **options: self.group.reduce_scatter_into(output, tensor, op, **options),
        )

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(
        self, outputs: Tensors, inputs: Tensors, opts: Any = None
    ) -> SparkWork:
        """Reduce each of the tensors over all ranks; each rank gets one part of each."""
        return self._combine(
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
        return self._begin(
            opts,
            timeout,
            [output],
            "all-to-all",
            lambda **options: self.group.all_to_all_into(
                output, tensor, output_splits, input_splits, **options
            ),
        )

    alltoall_base = all_to_all_single

    def alltoall(
        self, outputs: Tensors, inputs: Tensors, opts: Any = None, timeout: Any = None
    ) -> SparkWork:
        """Send each rank one of the tensors, and receive one from each."""
        return self._begin(
            opts,
            timeout,
            list(outputs),
            "all-to-all",
            lambda **options: self.group.all_to_all(outputs, inputs, **options),
        )

    def barrier(self, opts: Any = None, timeout: Any = None) -> SparkWork:
        """Wait until all ranks have called it."""
        return self._begin(
            opts, timeout, [], "barrier", lambda **options: self.group.barrier(**options)
        )

    def monitored_barrier(
        self, timeout: Optional[timedelta] = None, wait_all_ranks: bool = False
    ) -> None:
        """Wait for all ranks; raise an error that names the missing ones."""
        self.group.monitored_barrier(seconds(timeout) or self._timeout, wait_all_ranks)

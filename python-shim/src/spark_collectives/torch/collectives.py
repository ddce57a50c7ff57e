"""The broadcasts, reductions and barriers that torch calls on a process group."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Optional, Sequence

import torch

from .. import errors as own_errors
from . import arguments, errors, profiling, sparse, staging
from .reductions import combined, reduction
from .staging import After
from .work import SparkWork, seconds
from .work_factory import Tensors, WorkFactory


class Collectives(WorkFactory):
    """Collectives with the names and the arguments of torch's ``ProcessGroup``.

    Each method takes all of torch's forms: with options, or with the root, the reduction and the
    timeout themselves; with lists of tensors, or with tensors. Names have changed between versions
    of torch, so some methods have two. Each method returns a :class:`SparkWork`; it is done
    already if torch says that the caller waits anyway.

    A wrong argument raises :class:`~spark_collectives.torch.errors.ArgumentError` before anything
    begins.
    """

    def broadcast(
        self,
        tensors: Any = None,
        opts: Any = None,
        timeout: Any = None,
        *,
        tensor: Any = None,
        root: Optional[int] = None,
    ) -> SparkWork:
        """Send the tensor of the root to all ranks, and to all tensors of each rank's list."""
        given = arguments.one_of("broadcast", tensors=tensors, tensor=tensor)
        every = arguments.tensor_list("broadcast", given)
        source = 0 if opts is None and root is None else None
        if source is None:
            source = arguments.root_of("broadcast", opts, root, self.group.size)
        index = arguments.require_root_tensor("broadcast", opts, len(every))
        sent = every[index]
        arguments.require_alike("broadcast", every[1:], every[0])
        return self._begin(
            opts,
            timeout,
            every,
            "broadcast",
            lambda host, **options: self.group.broadcast(
                host.read(sent) if self.group.rank == source else host.write(sent),
                source,
                **options,
            ),
            after=_copies(sent, every),
        )

    def allreduce(
        self,
        tensors: Any = None,
        opts: Any = None,
        timeout: Any = None,
        *,
        tensor: Any = None,
        op: Any = None,
    ) -> SparkWork:
        """Reduce the tensor over all ranks, in place; of several, over all those of all ranks."""
        given = arguments.one_of("allreduce", tensors=tensors, tensor=tensor)
        every = arguments.tensor_list("allreduce", given)
        reduces = reduction(arguments.reduce_op(opts, op))
        if len(every) == 1:
            return self._all_reduce(every[0], opts, timeout, reduces)
        arguments.require_alike("allreduce", every[1:], every[0])
        works = [self._all_reduce(each, opts, timeout, reduces) for each in every]

        def combine() -> None:
            total = combined(reduces, every)
            for each in every:
                each.detach().copy_(total)
            staging.synchronize(every)

        return self._combine(works, "allreduce", combine)

    def _all_reduce(self, tensor: Any, opts: Any, timeout: Any, op: Any) -> SparkWork:
        if tensor.layout is torch.sparse_coo:
            self._sequence += 1
            end = profiling.begin("allreduce", [tensor])
            try:
                sparse.all_reduce(self.group, tensor, op, self._limit(opts, timeout))
            except Exception as e:
                raise errors.of_torch(e) from None
            finally:
                if end is not None:
                    end()
            return self._work_of([], [tensor], "allreduce")
        return self._begin(
            opts,
            timeout,
            [tensor],
            "allreduce",
            lambda host, **options: self.group.all_reduce(host.update(tensor), op, **options),
        )

    allreduce_sparse = allreduce

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> SparkWork:
        """Reduce the tensors over all ranks, in place, as one operation."""
        every = arguments.tensor_list("allreduce_coalesced", tensors)
        if any(each.dtype is not every[0].dtype for each in every):
            arguments.refuse("allreduce_coalesced", "tensors must all have the same type")
        op = reduction(arguments.reduce_op(opts))
        return self._begin(
            opts,
            None,
            every,
            "allreduce_coalesced",
            lambda host, **options: self.group.all_reduce_coalesced(
                host.updates(every), op, **options
            ),
        )

    def reduce(
        self,
        tensors: Any = None,
        opts: Any = None,
        op: Any = None,
        timeout: Any = None,
        *,
        tensor: Any = None,
        root: Optional[int] = None,
    ) -> SparkWork:
        """Reduce the tensor over all ranks, in place at the root."""
        given = arguments.one_of("reduce", tensors=tensors, tensor=tensor)
        target = arguments.root_of("reduce", 0 if opts is None else opts, root, self.group.size)
        reduced = arguments.only("reduce", given)
        arguments.require_root_tensor("reduce", opts, 1)
        options_op = None if isinstance(opts, int) else opts
        reduces = reduction(arguments.reduce_op(options_op, op))
        return self._begin(
            opts,
            timeout,
            [reduced],
            "reduce",
            lambda host, **options: self.group.reduce(
                host.update(reduced) if self.group.rank == target else host.read(reduced),
                target,
                reduces,
                **options,
            ),
        )

    def reduce_scatter(
        self,
        output_tensors: Any = None,
        input_tensors: Any = None,
        opts: Any = None,
        timeout: Any = None,
        *,
        output: Any = None,
        input: Any = None,
        op: Any = None,
    ) -> SparkWork:
        """Reduce the tensors over all ranks; each rank gets the one at its index."""
        outputs = arguments.one_of("reduce_scatter", output_tensors=output_tensors, output=output)
        inputs = arguments.one_of("reduce_scatter", input_tensors=input_tensors, input=input)
        into = arguments.only("reduce_scatter", outputs, "output ")
        tensors = inputs if inputs and isinstance(inputs[0], torch.Tensor) else inputs[0]
        if len(tensors) != self.group.size:
            arguments.refuse("reduce_scatter", "invalid input tensor list size, must be world size")
        reduces = reduction(arguments.reduce_op(opts, op))
        return self._begin(
            opts,
            timeout,
            [into],
            "reduce_scatter",
            lambda host, **options: self.group.reduce_scatter(
                host.write(into), host.reads(tensors), reduces, **options
            ),
            inputs=tensors,
        )

    def reduce_scatter_single(
        self,
        outputTensor: Any,
        inputTensor: Any,
        opts: Any = None,
        timeout: Any = None,
    ) -> SparkWork:
        """Reduce the tensor over all ranks; each rank gets one part of it."""
        op = reduction(arguments.reduce_op(opts))
        return self._begin(
            opts,
            timeout,
            [outputTensor],
            "reduce_scatter",
            lambda host, **options: self.group.reduce_scatter_into(
                host.write(outputTensor), host.read(inputTensor), op, **options
            ),
            inputs=[inputTensor],
        )

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(
        self,
        outputTensors: Tensors,
        inputTensors: Tensors,
        opts: Any = None,
    ) -> SparkWork:
        """Reduce each of the tensors over all ranks; each rank gets one part of each."""
        arguments.require_parts("reduce_scatter", inputTensors, outputTensors, self.group.size)
        return self._combine(
            [self.reduce_scatter_single(*pair, opts) for pair in zip(outputTensors, inputTensors)],
            "reduce_scatter",
        )

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def barrier(self, opts: Any = None, timeout: Any = None) -> SparkWork:
        """Wait until all ranks have called it."""
        return self._begin(
            opts,
            arguments.timeout_of(opts, timeout),
            [],
            "barrier",
            lambda _, **options: self.group.barrier(**options),
        )

    def monitored_barrier(
        self, timeout: Optional[timedelta] = None, wait_all_ranks: bool = False
    ) -> None:
        """Wait for all ranks; raise an error that names the missing ones. The group goes on.

        :param timeout: by default, or if it is negative, the group's; with zero it looks once
        """
        limit = self._timeout
        if timeout is not None and timeout >= timedelta(0):
            limit = seconds(timeout) or 0.001
        try:
            self.group.monitored_barrier(limit, wait_all_ranks)
        except own_errors.CollectiveTimeoutError as e:
            raise errors.of_torch(e, self._missed(e, timeout, limit, wait_all_ranks)) from None
        except Exception as e:
            raise errors.of_torch(e) from None

    def _missed(
        self,
        error: own_errors.CollectiveTimeoutError,
        timeout: Optional[timedelta],
        limit: float,
        every: bool,
    ) -> str:
        """Say in torch's words which ranks have not come to a monitored barrier."""
        rank = self.group.rank
        if timeout == timedelta(0):
            return f"Rank {rank} timed out in monitoredBarrier"
        missing = error.missing_ranks if every else error.missing_ranks[:1]
        named = ", ".join(map(str, missing))
        late = f"Rank{'s' if len(missing) > 1 else ''} {named} failed to pass monitoredBarrier in "
        late += f"{round(limit * 1000)} ms"
        if rank == 0:
            return late
        return (
            f"Rank {rank} successfully reached monitoredBarrier, but received errors while waiting "
            f"for send/recv from rank 0: {late}"
        )


def _copies(source: torch.Tensor, every: Sequence[torch.Tensor]) -> After:
    """Return what copies a tensor to the others of its list; None if there are none."""
    others = [each for each in every if each is not source]
    if not others:
        return None

    def copy() -> None:
        for each in others:
            each.detach().copy_(source.detach())
        staging.synchronize(others)

    return copy

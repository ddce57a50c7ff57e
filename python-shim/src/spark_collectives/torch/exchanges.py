"""The gathers, scatters and exchanges that torch calls on a process group."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import torch

from . import arguments, profiling, staging
from .staging import After
from .work import SparkWork
from .work_factory import Tensors, WorkFactory


class Exchanges(WorkFactory):
    """Collectives that move tensors, in all of the forms that torch's ``ProcessGroup`` has."""

    def allgather(
        self,
        output_tensors: Any = None,
        input_tensors: Any = None,
        opts: Any = None,
        timeout: Any = None,
        *,
        input_tensor: Any = None,
    ) -> SparkWork:
        """Gather the tensors of all ranks on all ranks.

        If each rank has several, each list of outputs gets those of all ranks, in rank order.
        """
        given = arguments.one_of(
            "allgather", input_tensors=input_tensors, input_tensor=input_tensor
        )
        inputs = arguments.tensor_list("allgather", given, "input ")
        lists = [output_tensors] if isinstance(given, torch.Tensor) else list(output_tensors)
        if len(lists) != len(inputs):
            arguments.refuse(
                "allgather", "requires input/output tensor lists to have the same length"
            )
        expected = self.group.size * len(inputs)
        for index, outputs in enumerate(lists):
            if len(outputs) != expected:
                arguments.refuse(
                    "allgather",
                    f"invalid output tensor list at index {index} (expected length {expected}, got "
                    f"{len(outputs)})",
                )
        for outputs in lists[1:]:
            for output, like in zip(outputs, lists[0]):
                arguments.require_alike("allgather", [output], like)
        limit = arguments.timeout_of(opts, timeout)
        pairs = [(lists[0][index :: len(inputs)], tensor) for index, tensor in enumerate(inputs)]
        self._require_outputs(pairs)
        works = [self._all_gather(outputs, tensor, opts, limit) for outputs, tensor in pairs]
        if len(works) == 1:
            return works[0]
        return self._combine(works, "allgather", _copies_of(lists))

    def _all_gather(
        self,
        outputs: Sequence[torch.Tensor],
        tensor: Any,
        opts: Any,
        timeout: Any,
        part: bool = False,
    ) -> SparkWork:
        return self._begin(
            opts,
            timeout,
            list(outputs),
            "allgather",
            lambda host, **options: self.group.all_gather(
                host.writes(outputs), host.read(tensor), **options
            ),
            inputs=[tensor],
            part=part,
        )

    def _require_outputs(
        self, pairs: Sequence[Tuple[Sequence[torch.Tensor], torch.Tensor]]
    ) -> None:
        """Require all outputs to fit, before the first of several operations begins."""
        for outputs, tensor in pairs:
            if any(each.dtype is not tensor.dtype for each in outputs):
                arguments.require_alike("allgather", outputs, tensor)
            own = outputs[self.group.rank]
            if len(pairs) > 1 and own.numel() != tensor.numel():
                arguments.require_alike("allgather", [own], tensor)

    def all_gather_single(
        self,
        output: Any,
        input: Any,
        opts: Any = None,
        timeout: Any = None,
    ) -> SparkWork:
        """Gather the tensors of all ranks in one tensor on all ranks."""
        return self._begin(
            opts,
            timeout,
            [output],
            "allgather",
            lambda host, **options: self.group.all_gather_into(
                host.write(output), host.read(input), **options
            ),
            inputs=[input],
        )

    _allgather_base = all_gather_single

    def all_gather_single_coalesced(
        self, output_lists: Tensors, input_list: Tensors, opts: Any = None
    ) -> SparkWork:
        """Gather each of the tensors in one tensor on all ranks."""
        arguments.require_parts("allgather", output_lists, input_list, self.group.size)
        return self._combine(
            [self.all_gather_single(*pair, opts) for pair in zip(output_lists, input_list)],
            "allgather",
        )

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def allgather_coalesced(
        self, output_lists: List[Tensors], input_list: Tensors, opts: Any = None
    ) -> SparkWork:
        """Gather each of the tensors; ``output_lists`` has a list for each rank."""
        inputs = arguments.tensor_list("allgather_coalesced", input_list, "input ")
        if len(output_lists) != self.group.size:
            arguments.refuse("allgather_coalesced", "output lists should be equal to world size")
        for outputs in output_lists:
            if len(outputs) != len(inputs):
                arguments.refuse(
                    "allgather_coalesced",
                    f"invalid output size: (expected length {len(inputs)}, got {len(outputs)})",
                )
        pairs = [([of_rank[i] for of_rank in output_lists], each) for i, each in enumerate(inputs)]
        self._require_outputs(pairs)
        end = profiling.begin("allgather", inputs)
        try:
            works = [self._all_gather(*pair, opts, None, True) for pair in pairs]
        except BaseException:
            if end is not None:
                end()
            raise
        return self._combine(works, "allgather", end=end)

    def gather(
        self,
        output_tensors: Any = None,
        input_tensors: Any = None,
        opts: Any = None,
        timeout: Any = None,
        *,
        input_tensor: Any = None,
        root: Optional[int] = None,
    ) -> SparkWork:
        """Gather the tensors of all ranks at the root."""
        given = arguments.one_of("gather", input_tensors=input_tensors, input_tensor=input_tensor)
        target = arguments.root_of("gather", 0 if opts is None else opts, root, self.group.size)
        tensor = arguments.only("gather", given, "input ")
        here = self.group.rank == target
        into = arguments.list_of_ranks("gather", output_tensors, self.group.size, here, "output")
        arguments.require_alike("gather", into, tensor)
        return self._begin(
            opts,
            timeout,
            list(into),
            "gather",
            lambda host, **options: self.group.gather(
                host.writes(into), host.read(tensor), target, **options
            ),
            inputs=[tensor],
        )

    def gather_single(
        self,
        output: Optional[torch.Tensor],
        input: Any,
        opts: Any = None,
    ) -> SparkWork:
        """Gather the tensors of all ranks in one tensor at the root."""
        into: Tensors = []
        target = arguments.root_of("gather", 0 if opts is None else opts, None, self.group.size)
        if self.group.rank == target:
            if output is None:
                arguments.refuse("gather", "requires an output tensor at the root")
            arguments.require_parts("gather", [output], [input], self.group.size)
            into = list(output.detach().view(self.group.size, *input.shape).unbind(0))
        return self.gather([into] if into else [], [input], opts)

    gather_into_tensor = gather_single

    def scatter(
        self,
        output_tensors: Any = None,
        input_tensors: Any = None,
        opts: Any = None,
        timeout: Any = None,
        *,
        output_tensor: Any = None,
        root: Optional[int] = None,
    ) -> SparkWork:
        """Send each rank one of the tensors of the root."""
        outputs = arguments.one_of(
            "scatter", output_tensors=output_tensors, output_tensor=output_tensor
        )
        source = arguments.root_of("scatter", 0 if opts is None else opts, root, self.group.size)
        output = arguments.only("scatter", outputs, "output ")
        here = self.group.rank == source
        tensors = arguments.list_of_ranks("scatter", input_tensors, self.group.size, here, "input")
        arguments.require_alike("scatter", tensors, output)
        return self._begin(
            opts,
            timeout,
            [output],
            "scatter",
            lambda host, **options: self.group.scatter(
                host.write(output), host.reads(tensors), source, **options
            ),
            inputs=tensors,
        )

    def all_to_all_single(
        self,
        output: Any,
        input: Any,
        output_split_sizes: Optional[Sequence[int]] = None,
        input_split_sizes: Optional[Sequence[int]] = None,
        opts: Any = None,
        timeout: Any = None,
    ) -> SparkWork:
        """Send parts of the tensor, one to each rank, and receive one from each."""
        for tensor, splits in ((output, output_split_sizes), (input, input_split_sizes)):
            rows = tensor.shape[0] if tensor.dim() else 1
            if splits and sum(splits) != rows:
                arguments.refuse(
                    "alltoall_base",
                    f"Split sizes doesn't match total dim 0 size: {list(splits)} of {rows} rows",
                )
            if not splits and rows % self.group.size:
                arguments.refuse(
                    "alltoall_base",
                    f"Tensor's dim 0 does not divide equally across group size: {rows} rows among "
                    f"{self.group.size} ranks",
                )
        return self._begin(
            opts,
            arguments.timeout_of(opts, timeout),
            [output],
            "alltoall",
            lambda host, **options: self.group.all_to_all_into(
                host.write(output),
                host.read(input),
                output_split_sizes,
                input_split_sizes,
                **options,
            ),
            inputs=[input],
        )

    alltoall_base = all_to_all_single

    def alltoall(
        self,
        output_tensors: Any = None,
        input_tensors: Any = None,
        opts: Any = None,
        timeout: Any = None,
        *,
        output: Any = None,
        input: Any = None,
    ) -> SparkWork:
        """Send each rank one of the tensors, and receive one from each."""
        outputs = arguments.one_of("alltoall", output_tensors=output_tensors, output=output)
        inputs = arguments.one_of("alltoall", input_tensors=input_tensors, input=input)
        for what, tensors in (("input", inputs), ("output", outputs)):
            if len(tensors) != self.group.size:
                arguments.refuse(
                    "alltoall",
                    f"{what} tensor list size {len(tensors)} does not match world size "
                    f"{self.group.size}",
                )
        return self._begin(
            opts,
            arguments.timeout_of(opts, timeout),
            list(outputs),
            "alltoall",
            lambda host, **options: self.group.all_to_all(
                host.writes(outputs), host.reads(inputs), **options
            ),
            inputs=inputs,
        )


def _copies_of(lists: Sequence[Sequence[torch.Tensor]]) -> After:
    def copy() -> None:
        for outputs in lists[1:]:
            for into, gathered in zip(outputs, lists[0]):
                into.detach().copy_(gathered.detach())
            staging.synchronize(outputs)

    return copy

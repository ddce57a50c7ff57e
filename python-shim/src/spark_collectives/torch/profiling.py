"""The operations of groups in the traces of ``torch.profiler``, as those of gloo are in them."""

from __future__ import annotations

from typing import Callable, Optional, Sequence

import torch

from . import private

_enabled = private.profiler_enabled

#: gloo's names for operations, where they are not those that errors have.
_NAMES = {
    "allgather": "all_gather",
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce",
    "alltoall": "all_to_all",
}

#: Ends the event of an operation, once, in whichever thread sees the operation end.
End = Callable[[], None]


def begin(description: str, tensors: Sequence[torch.Tensor]) -> Optional[End]:
    """Begin the event of an operation, with the tensors that this rank gives to it.

    :return: what ends it; None if no profiler is on, which takes a fraction of a microsecond to see
    """
    if not _enabled():
        return None
    record = private.begin_event(f"spark:{_NAMES.get(description, description)}", *tensors)
    return lambda: private.end_event(record)

"""The all-reduce of sparse tensors."""

from __future__ import annotations

from typing import Any, List

import torch

from ..process_group import ProcessGroup
from ..reduce_op import ReduceOp
from . import private, staging


def all_reduce(group: ProcessGroup, tensor: Any, op: ReduceOp, timeout: float) -> None:
    """Sum a sparse COO tensor over all ranks, in place: the union of their indices.

    Gathers the numbers of elements first, then the elements: ranks may have different numbers. A
    tensor of another device is added up on the host.
    """
    if op != ReduceOp.SUM:
        raise ValueError(f"Sparse tensors can be summed up, and not reduced with {op}")
    # On the CPU, whatever torch's default device is.
    mine = tensor.detach().cpu().coalesce()
    counts = torch.empty(group.size, dtype=torch.int64, device="cpu")
    own = torch.tensor([private.count_of_elements(mine)], device="cpu")
    group.all_gather_into(counts, own, timeout=timeout)
    sizes: List[int] = counts.tolist()
    extents = mine.sparse_dim()
    indices = [torch.empty((extents, n), dtype=torch.int64, device="cpu") for n in sizes]
    group.all_gather(indices, mine.indices(), timeout=timeout)
    inner = tuple(mine.values().shape[1:])
    values = [torch.empty((n, *inner), dtype=mine.dtype, device="cpu") for n in sizes]
    group.all_gather(values, mine.values(), timeout=timeout)
    total = torch.sparse_coo_tensor(torch.cat(indices, 1), torch.cat(values), mine.shape)
    # On the tensor itself: copy_() would replace the indices of tensor.detach() only.
    with torch.no_grad():
        tensor.copy_(total.coalesce())
    staging.synchronize([tensor])

"""The arguments of torch's calls, and what is refused before anything begins.

The refusals have the words that PyTorch's own tests look for.
"""

from __future__ import annotations

import operator
from datetime import timedelta
from typing import Any, List, NoReturn, Optional, Sequence

import torch
from torch.distributed import ReduceOp as TorchReduceOp

from .errors import ArgumentError


def refuse(call: str, why: str) -> NoReturn:
    """Refuse a call."""
    raise ArgumentError(f"{call}: {why}")


def one_of(call: str, **given: Any) -> Any:
    """Return the one argument that was given, of several names for it."""
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) != 1:
        raise TypeError(f"{call} takes one of the arguments {', '.join(given)}")
    return next(iter(named.values()))


def tensor_list(call: str, values: Any, what: str = "") -> List[torch.Tensor]:
    """Return a list of at least one tensor; a tensor alone is the only one of a list."""
    found = [values] if isinstance(values, torch.Tensor) else list(values)
    if not found:
        refuse(call, f"requires non-empty {what}tensor list")
    return found


def only(call: str, values: Any, what: str = "") -> torch.Tensor:
    """Return the one tensor of a list: torch's lists are for processes with several devices."""
    if isinstance(values, torch.Tensor):
        return values
    if len(values) != 1:
        refuse(call, f"requires a single-element {what}tensor list, and it has {len(values)}")
    found: torch.Tensor = values[0]
    return found


def list_of_ranks(
    call: str, values: Any, size: int, here: bool, what: str
) -> Sequence[torch.Tensor]:
    """Return the list with a tensor for each rank, which the root alone gives.

    :param values: the list, or a list that has only it; nothing elsewhere than at the root
    :param what: whether these are the input or the output
    """
    if not here:
        if values:
            refuse(call, f"requires empty {what} on non-root")
        return []
    inner = values if values and isinstance(values[0], torch.Tensor) else None
    if inner is None:
        if not values or len(values) != 1:
            refuse(
                call, f"requires a single-element {what} list containing a list with {size} tensors"
            )
        inner = values[0]
    if len(inner) != size:
        refuse(
            call,
            f"Incorrect {what} list size {len(inner)}. {what.capitalize()} list size should be "
            f"{size}, same as size of the process group",
        )
    found: Sequence[torch.Tensor] = inner
    return found


def require_alike(call: str, tensors: Sequence[torch.Tensor], like: torch.Tensor) -> None:
    """Require tensors of the type and the sizes of another."""
    for index, tensor in enumerate(tensors):
        if tensor.dtype is not like.dtype:
            refuse(
                call,
                f"invalid tensor type at index {index} (expected {like.dtype}, got {tensor.dtype})",
            )
        if tensor.shape != like.shape:
            refuse(
                call,
                f"invalid tensor size at index {index} (expected {tuple(like.shape)}, got "
                f"{tuple(tensor.shape)})",
            )


def require_parts(
    call: str, wholes: Sequence[torch.Tensor], parts: Sequence[torch.Tensor], size: int
) -> None:
    """Require pairs of a tensor with a part for each rank and a tensor of one part."""
    if len(wholes) != len(parts):
        refuse(
            call,
            f"requires input/output tensor lists to have the same length: {len(wholes)} and "
            f"{len(parts)}",
        )
    for index, (whole, part) in enumerate(zip(wholes, parts)):
        if whole.dtype is not part.dtype:
            refuse(
                call,
                f"invalid tensor type at index {index} (expected {part.dtype}, got {whole.dtype})",
            )
        if whole.numel() != size * part.numel():
            refuse(
                call,
                f"invalid tensor size at index {index}: {whole.numel()} elements, and {size} ranks "
                f"have {part.numel()} each",
            )


def root(call: str, value: Any, size: int) -> int:
    """Return the root: an option's, or a number."""
    rank = operator.index(value)
    if not 0 <= rank < size:
        refuse(call, f"invalid root rank: {rank}, and the group has {size} ranks")
    return rank


def root_of(call: str, opts: Any, given: Optional[int], size: int) -> int:
    """Return the root that the call names: by itself, or in its options."""
    if given is not None:
        return root(call, given, size)
    return root(call, getattr(opts, "rootRank", opts), size)


def require_root_tensor(call: str, opts: Any, count: int) -> int:
    """Return the index of the root's tensor in its list."""
    index = int(getattr(opts, "rootTensor", 0))
    if not 0 <= index < count:
        refuse(call, f"invalid root tensor: {index}")
    return index


def reduce_op(opts: Any, op: Any = None) -> Any:
    """Return torch's reduction: ``op``, ``opts``, an attribute of it, or by default the sum."""
    if op is not None:
        return op
    if opts is None:
        return TorchReduceOp.SUM
    return getattr(opts, "reduceOp", opts)


def timeout_of(opts: Any, timeout: Any) -> Any:
    """Return the timeout, which may stand in the place of the options."""
    return opts if timeout is None and isinstance(opts, timedelta) else timeout

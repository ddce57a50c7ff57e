"""The GPUs that Spark has given to this task, and which of them this process sees."""

from __future__ import annotations

import itertools
import os
from typing import Any, Callable, List, Optional, Sequence

import torch

from . import context

VISIBLE = "CUDA_VISIBLE_DEVICES"

#: The device of this process if it is one of ``TorchDistributor``.
_launched: Optional[torch.device] = None


def launched(ordinal: Optional[int]) -> None:
    """Let this process work on one of the GPUs that it sees now, or on the CPU."""
    global _launched
    _launched = torch.device("cpu") if ordinal is None else torch.device("cuda", ordinal)


def device() -> torch.device:
    """Return the GPU that Spark has given to this task; the CPU if it has given none.

    It is the first address of the resource ``gpu``. Addresses number the GPUs of the host, and CUDA
    numbers those that ``CUDA_VISIBLE_DEVICES`` lets this process see. An address may be a UUID.
    In a process of ``TorchDistributor`` it is the GPU with the number ``LOCAL_RANK``; the CPU
    without ``use_gpu``. Joins no group, and waits for nobody.

    :raises RuntimeError: if the process does not see that GPU, or this torch sees none
    """
    if _launched is not None:
        if _launched.type != "cpu":
            _require_cuda(os.environ.get(VISIBLE))
        return _launched
    addresses = context.gpu_addresses()
    if not addresses:
        return torch.device("cpu")
    address = addresses[0].strip()
    _require_cuda(address)
    return torch.device("cuda", ordinal(address, os.environ.get(VISIBLE), _uuids))


def _require_cuda(gpu: Optional[str]) -> None:
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"Spark has given GPU {gpu} to the task, and torch {torch.__version__} sees none: "
            "install a build of torch for CUDA, or for ROCm, and its driver, on the executors"
        )


def visible_as(
    addresses: Sequence[str], visible: Optional[str], all_of_process: bool = False
) -> List[str]:
    """Return the entries of ``CUDA_VISIBLE_DEVICES`` with which a process sees just these GPUs.

    An address is a number or a UUID of the host, and one of the entries, if there are any. It is
    the position of an entry where these are UUIDs.

    :param visible: what the variable says, if it is set
    :param all_of_process: whether these are all GPUs of the process. If all entries are among them,
        the others are hidden; if one of them is no entry and one entry is none of them, they are
        positions. Of a part that would be a guess, by which two tasks may get one GPU
    :raises RuntimeError: if the process does not see one of them
    """
    addresses = [each.strip() for each in addresses]
    entries = _entries(visible)
    if entries is None:
        return addresses
    if not entries:
        raise RuntimeError(_unseen(addresses[0], visible))
    numbers = all(each.isdigit() for each in entries)
    if all_of_process and set(entries) <= set(addresses):
        return [each for each in addresses if each in entries]
    by_position = not numbers or (all_of_process and not set(addresses) <= set(entries))
    found = []
    for address in addresses:
        if not address.isdigit():
            alike = [each for each in entries if _same_uuid(each, address)]
            entry = address if numbers else next(iter(alike), None)
        elif by_position:
            entry = entries[int(address)] if int(address) < len(entries) else None
        else:
            entry = address if address in entries else None
        if entry is None:
            raise RuntimeError(_unseen(address, visible))
        found.append(entry)
    return found


def _same_uuid(one: str, other: str) -> bool:
    """Return whether one is the other, or its beginning."""
    return one.startswith(other) or other.startswith(one)


def _entries(visible: Optional[str]) -> Optional[List[str]]:
    """Return the entries that CUDA reads: those before an empty one or -1, which may be none.

    None is returned for a variable that is not set, and hides nothing.
    """
    if visible is None:
        return None
    entries = [each.strip() for each in visible.split(",")]
    return list(itertools.takewhile(lambda each: each and not each.startswith("-"), entries))


def _unseen(address: str, visible: Optional[str]) -> str:
    seen = f"only {visible}" if _entries(visible) else f'none (it is "{visible}")'
    return (
        f"Spark has given GPU {address} of the host to the task, and {VISIBLE} lets this "
        f"process see {seen}. Make the discovery script and {VISIBLE} agree"
    )


def ordinal(address: str, visible: Optional[str], uuids: Callable[[], List[str]]) -> int:
    """Return CUDA's number of a GPU.

    :param address: the number of the GPU on the host, or its UUID, or the beginning of that
    :param visible: what ``CUDA_VISIBLE_DEVICES`` says, if it is set
    :param uuids: returns the UUIDs of the GPUs that the process sees
    """
    entries = _entries(visible)
    if not address.isdigit():
        seen = uuids()
        for number, uuid in enumerate(seen):
            if uuid.startswith(address):
                return number
        raise RuntimeError(
            f"Spark has given the GPU {address} to the task, and this process sees only {seen} "
            f"({VISIBLE} is {visible})"
        )
    if entries is None:
        return int(address)
    if not all(each.isdigit() for each in entries):
        raise RuntimeError(
            f"{VISIBLE} is {visible}, which does not say which of its entries is the host's GPU "
            f"{address}, the address that Spark has given to the task. Let the discovery script "
            "print UUIDs too"
        )
    if address not in entries:
        raise RuntimeError(_unseen(address, visible))
    return entries.index(address)


def _uuids() -> List[str]:
    found = []
    for number in range(torch.cuda.device_count()):
        properties: Any = torch.cuda.get_device_properties(number)
        found.append(f"GPU-{properties.uuid}")
    return found

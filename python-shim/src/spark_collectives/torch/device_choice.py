"""The device that Spark has given to this task."""

from __future__ import annotations

import os
from typing import Any, Callable, List, Optional

import torch

from . import context

_VISIBLE = "CUDA_VISIBLE_DEVICES"


def device() -> torch.device:
    """Return the GPU that Spark has given to this task; the CPU if it has given none.

    It is the first address of the resource ``gpu``. Addresses number the GPUs of the host, and CUDA
    numbers those that ``CUDA_VISIBLE_DEVICES`` lets this process see. An address may be a UUID.
    Joins no group, and waits for nobody.

    :raises RuntimeError: if the process does not see that GPU, or this torch sees none
    """
    addresses = context.gpu_addresses()
    if not addresses:
        return torch.device("cpu")
    address = addresses[0].strip()
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"Spark has given GPU {address} to the task, and torch {torch.__version__} sees none: "
            "install a build of torch for CUDA, or for ROCm, and its driver, on the executors"
        )
    return torch.device("cuda", ordinal(address, os.environ.get(_VISIBLE), _uuids))


def ordinal(address: str, visible: Optional[str], uuids: Callable[[], List[str]]) -> int:
    """Return CUDA's number of a GPU.

    :param address: the number of the GPU on the host, or its UUID, or the beginning of that
    :param visible: what ``CUDA_VISIBLE_DEVICES`` says, if it is set
    :param uuids: returns the UUIDs of the GPUs that the process sees
    """
    entries = [each.strip() for each in (visible or "").split(",") if each.strip()]
    if not address.isdigit():
        seen = uuids()
        for number, uuid in enumerate(seen):
            if uuid.startswith(address):
                return number
        raise RuntimeError(
            f"Spark has given the GPU {address} to the task, and this process sees only {seen} "
            f"({_VISIBLE} is {visible})"
        )
    if not entries:
        return int(address)
    if not all(each.isdigit() for each in entries):
        raise RuntimeError(
            f"{_VISIBLE} is {visible}, which does not say which of its entries is the host's GPU "
            f"{address}, the address that Spark has given to the task. Let the discovery script "
            "print UUIDs too"
        )
    if address not in entries:
        raise RuntimeError(
            f"Spark has given GPU {address} of the host to the task, and {_VISIBLE} lets this "
            f"process see only {visible}. Make the discovery script and {_VISIBLE} agree"
        )
    return entries.index(address)


def _uuids() -> List[str]:
    found = []
    for number in range(torch.cuda.device_count()):
        properties: Any = torch.cuda.get_device_properties(number)
        found.append(f"GPU-{properties.uuid}")
    return found

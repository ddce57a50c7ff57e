"""The names of backends."""

from __future__ import annotations

from typing import Optional

from . import _names

#: The backend of this library, and names of torch that mean collectives in host memory.
OWN = ("spark", "gloo")

_NOT_FOR_ARRAYS = ("nccl", "xccl", "ucc", "mpi")


def checked(backend: Optional[str]) -> str:
    """Return the name in lower case; an empty text if there is none.

    :raises TypeError: if it is not a text
    :raises ValueError: if no backend of that name can carry out operations on arrays
    """
    if backend is None:
        return ""
    if not isinstance(backend, str):
        raise TypeError(
            f"The first argument is the name of a backend, as in torch.distributed, and not "
            f"{backend!r}: write init_process_group(timeout=...)"
        )
    name = backend.lower()
    device, _, of_cpu = name.rpartition(":")
    if device not in ("", "cpu") or "," in name or of_cpu in _NOT_FOR_ARRAYS:
        raise ValueError(
            f'The backend "{backend}" cannot be used: arrays are in host memory, and their backend '
            'is "spark" ("gloo" means the same). For tensors of GPUs use torch.distributed, whose '
            'backend "nccl" finds the other ranks once spark_collectives.torch is imported'
        )
    near = "" if of_cpu in OWN else _names.question(of_cpu, OWN)
    if near:
        raise ValueError(f'There is no backend named "{backend}"{near}')
    return of_cpu


def of_jvm(name: str) -> str:
    """Return the name that the JVM knows; an empty text for its default."""
    return "" if name in OWN else name


def is_backend_available(backend: str) -> bool:
    """Return whether groups of this package can have the backend: ``"spark"`` or ``"gloo"``."""
    return backend.lower().rpartition(":")[2] in OWN and not backend.lower().startswith("cuda")

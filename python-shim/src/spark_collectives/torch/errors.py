"""The library's errors as torch's kinds.

Each is also the kind that :mod:`spark_collectives.errors` has, with its attributes. All are
``RuntimeError``, as every error of ``torch.distributed``'s own groups is.
"""

from __future__ import annotations

from typing import Dict, Type

import torch.distributed as dist

from .. import errors


class ArgumentError(ValueError, RuntimeError):
    """A call was refused before anything began, and the group goes on."""


class CollectiveTimeoutError(errors.CollectiveTimeoutError, dist.DistBackendError):  # type: ignore[misc]
    """An operation missed its deadline; ``missing_ranks`` have not joined it."""


class PeerFailedError(errors.PeerFailedError, dist.DistBackendError):  # type: ignore[misc]
    """Another rank of the group, ``rank``, failed, and the group with it."""


class GroupAbortedError(errors.GroupAbortedError, dist.DistBackendError):  # type: ignore[misc]
    """The group was aborted."""


class CollectiveMismatchError(errors.CollectiveMismatchError, dist.DistBackendError):  # type: ignore[misc]
    """Two ranks called different operations, or one operation with different sizes or types."""


class GroupClosedError(errors.GroupClosedError, dist.DistBackendError):  # type: ignore[misc]
    """The group was closed, or its task has ended."""


class TransportError(errors.TransportError, dist.DistNetworkError):  # type: ignore[misc]
    """The connection to another rank failed."""


class BridgeError(errors.BridgeError, dist.DistNetworkError):  # type: ignore[misc]
    """The connection between this Python process and its executor's JVM failed."""


_KINDS: Dict[Type[Exception], Type[Exception]] = {
    ValueError: ArgumentError,
    errors.CollectiveTimeoutError: CollectiveTimeoutError,
    errors.PeerFailedError: PeerFailedError,
    errors.GroupAbortedError: GroupAbortedError,
    errors.CollectiveMismatchError: CollectiveMismatchError,
    errors.GroupClosedError: GroupClosedError,
    errors.TransportError: TransportError,
    errors.BridgeError: BridgeError,
}


def of_torch(error: Exception, before: str = "") -> Exception:
    """Return an error as torch's kind; one that has no such kind as it is.

    :param before: stands before the text of a timeout
    """
    kind = _KINDS.get(type(error))
    if kind is None:
        return error
    text = str(error)
    if kind is CollectiveTimeoutError and before:
        text = f"{before}: {text}"
    made = kind(text)
    made.__dict__.update(error.__dict__)
    made.__cause__ = error.__cause__
    return made.with_traceback(error.__traceback__)


def timed_out(seconds: float, description: str) -> str:
    """Say how long an operation has been waited for, in torch's words."""
    return (
        f"[spark] Timed out waiting {max(1, round(seconds * 1000))}ms for {description} to complete"
    )

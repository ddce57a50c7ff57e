"""What goes wrong, with the names and the hierarchy of the Java library."""

from __future__ import annotations

from typing import Dict, Sequence, Tuple, Type


class CollectiveError(RuntimeError):
    """An operation of a group failed, and usually the group with it.

    The message names the rank, the operation, and what to do. ``remote_traceback`` is the stack of
    the cause, where there is one: of a rank that failed, that of what it threw.
    """

    remote_traceback: str = ""


class CollectiveTimeoutError(CollectiveError, TimeoutError):
    """An operation did not end within its deadline; ``missing_ranks`` have not arrived."""

    missing_ranks: Tuple[int, ...] = ()


class PeerFailedError(CollectiveError):
    """Another rank of the group failed, ``rank``, and with it the group."""

    rank: int = -1


class GroupAbortedError(CollectiveError):
    """The group was aborted."""


class CollectiveMismatchError(CollectiveError):
    """Two ranks called different operations, or with different sizes or types."""


class TransportError(CollectiveError):
    """The connection to another rank failed."""


class BridgeError(CollectiveError):
    """The connection between this Python process and its executor's JVM failed."""


class GroupClosedError(CollectiveError):
    """The group was closed, or its task has ended."""


class StoreError(RuntimeError):
    """A call of the store failed."""


class StoreTimeoutError(StoreError, TimeoutError):
    """A call of the store waited for keys that did not appear in time."""


class QueueEmptyError(StoreError):
    """A value was to be taken, without waiting, from a queue that has none."""


_KINDS: Dict[str, Type[Exception]] = {
    "timeout": CollectiveTimeoutError,
    "peer-failed": PeerFailedError,
    "aborted": GroupAbortedError,
    "mismatch": CollectiveMismatchError,
    "transport": TransportError,
    "collective": CollectiveError,
    "store-timeout": StoreTimeoutError,
    "queue-empty": QueueEmptyError,
    "store": StoreError,
    "argument": ValueError,
    "state": GroupClosedError,
}


def of_reply(kind: str, message: str, cause: str, rank: int, missing: Sequence[int]) -> Exception:
    """The exception for an error that the JVM reports."""
    type_ = _KINDS.get(kind, CollectiveError)
    text = f"{message}\nCaused by: {cause.rstrip()}" if cause else message
    error = type_(text)
    if isinstance(error, CollectiveError):
        error.remote_traceback = cause
    if isinstance(error, PeerFailedError):
        error.rank = rank
    if isinstance(error, CollectiveTimeoutError):
        error.missing_ranks = tuple(missing)
    return error

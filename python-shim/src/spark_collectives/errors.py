"""The exceptions, with the names and the hierarchy of the Java library's."""

from __future__ import annotations

from typing import Dict, Sequence, Tuple, Type


class CollectiveError(RuntimeError):
    """An operation of a group failed, and usually the group with it.

    The message names the rank, the operation, and what to do. ``remote_traceback`` is the stack
    trace of the cause, such as another rank's exception, if there is one.
    """

    remote_traceback: str = ""


class CollectiveTimeoutError(CollectiveError, TimeoutError):
    """An operation missed its deadline; ``missing_ranks`` have not joined it."""

    missing_ranks: Tuple[int, ...] = ()


class PeerFailedError(CollectiveError):
    """Another rank of the group, ``rank``, failed, and the group with it."""

    rank: int = -1


class GroupAbortedError(CollectiveError):
    """The group was aborted."""


class CollectiveMismatchError(CollectiveError):
    """Two ranks called different operations, or one operation with different sizes or types."""


class ObjectSerializationError(CollectiveError):
    """A rank, ``rank`` of the group, cannot pickle its object; the group goes on."""

    rank: int = -1


class TransportError(CollectiveError):
    """The connection to another rank failed."""


class BridgeError(CollectiveError):
    """The connection between this Python process and its executor's JVM failed."""


class GroupClosedError(CollectiveError):
    """The group was closed, or its task has ended."""


class StoreError(RuntimeError):
    """An operation of the store failed."""


class StoreTimeoutError(StoreError, TimeoutError):
    """The keys that an operation of the store waited for did not appear in time."""


class QueueEmptyError(StoreError):
    """A pop that does not wait found its queue empty."""


class RunOverError(RuntimeError):
    """A replica comes too late: others have finished the run. Let it pass; the task then ends."""


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
    "run-over": RunOverError,
    "argument": ValueError,
    "state": GroupClosedError,
}


def of_reply(kind: str, message: str, cause: str, rank: int, missing: Sequence[int]) -> Exception:
    """Create the exception for an error that the JVM reports."""
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

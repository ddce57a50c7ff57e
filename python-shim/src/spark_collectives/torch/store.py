"""The driver's store as a ``torch.distributed.Store``."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any, Callable, List, Optional, Sequence, TypeVar, Union

import torch.distributed as dist

from .. import distributed, errors
from ..process_group import ProcessGroup
from ..store import Store
from ..work import Seconds
from .errors import of_torch

_T = TypeVar("_T")
Value = Union[str, bytes]

_MILLISECOND = timedelta(milliseconds=1)
_NONE = timedelta(0)


class SparkStore(dist.Store):  # type: ignore[misc]
    """The key-value store of a barrier stage, in the driver, for torch.

    Create it in a task of the stage: it joins the stage's world group, and so waits for the other
    tasks. All of them see the same keys; a later attempt of the stage does not. Calls that
    wait raise ``torch.distributed.DistStoreError`` after ``timeout`` (see also
    :meth:`set_timeout`). As soon as a rank has failed, they raise an error that names the rank and
    its cause. Thread-safe.
    """

    def __init__(self, prefix: str = "", timeout: Optional[timedelta] = None) -> None:
        """Create a view of the keys that begin with ``prefix``."""
        super().__init__()
        self._bind(distributed.init_process_group(), prefix)
        if timeout is not None:
            self.set_timeout(timeout)

    def _bind(self, world: ProcessGroup, prefix: str) -> None:
        self._world = world
        self._prefix = prefix
        self._store: Store = world.store()
        # A PrefixStore of torch references only the C++ object, and calls this one.
        vars(world).setdefault("_torch_stores", []).append(self)

    @classmethod
    def fresh(cls, world: ProcessGroup) -> SparkStore:
        """Return a part of the store that was not used before, the same on all ranks.

        Called by all ranks, in the same order.
        """
        counter = vars(world).setdefault("_torch_rendezvous", itertools.count())
        store = cls.__new__(cls)
        dist.Store.__init__(store)
        store._bind(world, f"torch/{next(counter)}/")
        return store

    def clone(self) -> SparkStore:
        """Return another store with the same keys. Several threads may share a store, too."""
        store = type(self).__new__(type(self))
        dist.Store.__init__(store)
        store._bind(self._world, self._prefix)
        store.set_timeout(self.timeout)
        return store

    def set(self, key: str, value: Value) -> None:
        """Store a value."""
        self._call(lambda: self._store.set(self._prefix + key, value))

    def get(self, key: str) -> bytes:
        """Wait until the key exists and return its value."""
        return self._call(lambda: self._store.get(self._prefix + key, self._limit()))

    def add(self, key: str, amount: int) -> int:
        """Add to the number at the key, 0 if there is none; return the sum."""
        return self._call(lambda: self._store.add(self._prefix + key, amount))

    def compare_set(self, key: str, expected_value: Value, desired_value: Value) -> bytes:
        """Replace the value if it is the expected one; return the value afterwards."""
        return self._call(
            lambda: self._store.compare_set(self._prefix + key, expected_value, desired_value)
        )

    def wait(self, keys: Sequence[str], timeout: Optional[timedelta] = None) -> None:
        """Wait until all of the keys exist."""
        full = [self._prefix + each for each in keys]
        self._call(lambda: self._store.wait(full, self._limit(timeout)))

    def check(self, keys: Sequence[str]) -> bool:
        """Return whether all of the keys exist."""
        return self._call(lambda: self._store.check([self._prefix + each for each in keys]))

    def delete_key(self, key: str) -> bool:
        """Remove the key; return whether it existed."""
        return self._call(lambda: self._store.delete_key(self._prefix + key))

    def num_keys(self) -> int:
        """Return the number of keys of the whole stage."""
        return self._call(self._store.num_keys)

    def append(self, key: str, value: Value) -> None:
        """Append to the value of the key."""
        self._call(lambda: self._store.append(self._prefix + key, value))

    def multi_get(self, keys: Sequence[str]) -> List[bytes]:
        """Wait until all of the keys exist and return their values."""
        full = [self._prefix + each for each in keys]
        return self._call(lambda: self._store.multi_get(full, self._limit()))

    def multi_set(self, keys: Sequence[str], values: Sequence[Value]) -> None:
        """Store each value under the key at the same place."""
        self._call(lambda: self._store.multi_set([self._prefix + each for each in keys], values))

    def has_extended_api(self) -> bool:
        """Return True: the store has append, multi_get and multi_set."""
        return True

    def list_keys(self) -> List[str]:
        """Return all keys that begin with the prefix, without the prefix."""
        keys = self._call(self._store.list_keys)
        return [each[len(self._prefix) :] for each in keys if each.startswith(self._prefix)]

    def barrier(self, key: str, world_size: int, timeout: Optional[timedelta] = None) -> None:
        """Wait until ``world_size`` callers have come to the key, which may then be used again."""
        full = self._prefix + key
        self._call(lambda: self._store.barrier(full, world_size, self._limit(timeout)))

    def queue_push(self, key: str, value: Value) -> None:
        """Append a value to the queue."""
        self._call(lambda: self._store.queue_push(self._prefix + key, value))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Remove and return the oldest value of the queue."""
        return self._call(lambda: self._store.queue_pop(self._prefix + key, block, self._limit()))

    def queue_len(self, key: str) -> int:
        """Return the number of values in the queue."""
        return self._call(lambda: self._store.queue_len(self._prefix + key))

    # The names that torch's C++ code uses, depending on its version.
    deleteKey = delete_key
    getNumKeys = num_keys
    hasExtendedApi = has_extended_api
    listKeys = list_keys
    queuePush = queue_push
    queuePop = queue_pop
    queueLen = queue_len

    def _limit(self, timeout: Optional[timedelta] = None) -> Seconds:
        limit = self.timeout if timeout is None or timeout <= _NONE else timeout
        return max(limit, _MILLISECOND)

    def _call(self, call: Callable[[], _T]) -> _T:
        try:
            return call()
        except errors.StoreTimeoutError as e:
            raise dist.DistStoreError(str(e)) from e
        except errors.QueueEmptyError as e:
            raise _queue_empty(str(e)) from e
        except errors.StoreError as e:
            raise dist.DistStoreError(str(e)) from e
        except errors.CollectiveError as e:
            raise of_torch(e) from None


def _queue_empty(message: str) -> Exception:
    kind: Any = getattr(dist, "QueueEmptyError", dist.DistStoreError)
    return kind(message)  # type: ignore[no-any-return]

"""The broadcast of the state of a loop."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .objects import broadcast_object_list
from .process_group import ProcessGroup


def is_plain(state: Any) -> bool:
    """Return whether a state is an array whose bytes are all there is to it."""
    return isinstance(state, np.ndarray) and not state.dtype.hasobject


def is_alike(state: Any, other: Any) -> bool:
    """Return whether another state is such an array, too, of the same type and shape."""
    return is_plain(other) and bool(other.dtype == state.dtype and other.shape == state.shape)


def described(state: Any) -> str:
    """Describe a state in an error."""
    if isinstance(state, np.ndarray):
        return f"an array of {state.dtype} with the shape {state.shape}"
    return f"a {type(state).__name__}"


def state_broadcast(group: ProcessGroup, initial: Any) -> Callable[[Any], Any]:
    """Return what gives all ranks the state of rank 0, or None for the end, as fast as possible."""
    if is_plain(initial):
        return _ArrayBroadcast(group, initial)

    def broadcast(state: Any) -> Any:
        states = [state]
        broadcast_object_list(states, 0, group)
        return states[0]

    return broadcast


class _ArrayBroadcast:
    """Broadcasts arrays of one type and shape, behind a byte that tells whether there is one."""

    #: The array begins at a multiple of the largest element's size.
    _OFFSET = 16

    def __init__(self, group: ProcessGroup, like: Any) -> None:
        self._group = group
        self._message = group.empty(self._OFFSET + like.nbytes, np.uint8)
        self._array = self._message[self._OFFSET :].view(like.dtype).reshape(like.shape)

    def __call__(self, state: Any) -> Any:
        if self._group.rank == 0:
            self._message[0] = state is not None
            if state is not None:
                self._array[...] = state
        self._group.broadcast(self._message, 0)
        if self._group.rank == 0:
            return state
        if not self._message[0]:
            return None
        received = self._array.view()
        received.flags.writeable = False
        return received

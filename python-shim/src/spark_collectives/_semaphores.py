"""Semaphores in memory that several processes have mapped: those of POSIX, by ctypes.

Why a reader sees what the writer wrote. A rank copies bytes into shared memory, and then tells
another rank that they are there. A number in that memory, written by numpy or ``memoryview``, would
do for x86, whose processors let stores be seen in the order of the program. Processors of other
kinds, such as aarch64, may show the number before the bytes, and Python has no store with release
order and no fence. A system call is none either, by anything that is promised. So the ranks
use what is promised: POSIX (XBD 4.12, "Memory Synchronization") names ``sem_post``, ``sem_trywait``
and ``sem_timedwait`` among the functions that synchronize memory between threads, of whatever
process if the semaphore is shared. What a rank wrote before its post is seen by the rank that has
taken that post, and what that rank read before a post of its own may be overwritten by whoever has
taken it. The copies are calls of ``memmove``, and Python calls it and the semaphores through
pointers, so no compiler moves one past the other. This holds on every processor with such a libc.

A semaphore also puts a waiting process to sleep, and wakes it without a poll. Nobody owns one: a
killed process leaves none locked.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import time
from typing import Any, Optional

#: The size of a semaphore here: a line of the processor's cache, and more than a sem_t has (32).
BYTES = 64

_ADDRESS = ctypes.c_void_p
_CLOCK_MONOTONIC = 1


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def _function(library: Any, name: str, *arguments: Any) -> Any:
    found = getattr(library, name, None)
    if found is not None:
        found.argtypes = arguments
        found.restype = ctypes.c_int
    return found


def _load() -> Optional[Any]:
    # macOS has no unnamed semaphores.
    return ctypes.PyDLL(None) if sys.platform == "linux" else None


_library = _load()
#: These do not block, and keep Python's lock, which costs less than to release it.
_init = _function(_library, "sem_init", _ADDRESS, ctypes.c_int, ctypes.c_uint)
_post = _function(_library, "sem_post", _ADDRESS)
_try = _function(_library, "sem_trywait", _ADDRESS)

_blocking = None if _library is None else ctypes.CDLL(None)
_TIME = ctypes.POINTER(_Timespec)
#: Since glibc 2.30; a change of the clock cannot prolong its wait.
_clock_wait = _function(_blocking, "sem_clockwait", _ADDRESS, ctypes.c_int, _TIME)
_timed_wait = _function(_blocking, "sem_timedwait", _ADDRESS, _TIME)


def kind() -> str:
    """Return what processes must have in common to share semaphores; empty if there are none."""
    if None in (_init, _post, _try, _timed_wait) or ctypes.sizeof(_ADDRESS) != 8:
        return ""
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        libc = ""
    return f"{platform.machine()} {libc}"


def initialize(address: int) -> None:
    """Make a semaphore of :data:`BYTES` at the address, with nothing to take."""
    if _init(address, 1, 0) != 0:
        raise OSError("sem_init failed")


def post(address: int) -> None:
    """Add one to what can be taken, and wake a process that waits for it."""
    if _post(address) != 0:
        raise OverflowError(f"The semaphore at {address:#x} was posted too often")


def take(address: int) -> bool:
    """Take one without waiting; return whether there was one."""
    return bool(_try(address) == 0)


class Sleeper:
    """Waits to take from semaphores; one for each thread that waits."""

    __slots__ = ("_at", "_until")

    def __init__(self) -> None:
        self._until = _Timespec()
        self._at = ctypes.byref(self._until)

    def wait(self, address: int, seconds: float) -> bool:
        """Wait to take one; return False if there was none in time, or a signal came."""
        if _clock_wait is None:
            self._set(time.time() + seconds)
            return bool(_timed_wait(address, self._at) == 0)
        self._set(time.monotonic() + seconds)
        return bool(_clock_wait(address, _CLOCK_MONOTONIC, self._at) == 0)

    def _set(self, time_: float) -> None:
        whole = int(time_)
        self._until.seconds = whole
        self._until.nanoseconds = int((time_ - whole) * 1e9)

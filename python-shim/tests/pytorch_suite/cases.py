"""PyTorch's tests, as the classes of a backend."""

from __future__ import annotations

import importlib
import os
from typing import Any

from . import CONTROL, RANKS

_MODULE = "torch.testing._internal.distributed.distributed_test"


class _Backend(str):
    """The name of a backend, which tests that ask for the control's take for it."""

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) or other == CONTROL

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def load(backend: str) -> Any:
    """Import the module of the tests, once in a process, for a backend.

    Some tests, and some lines of others, are for a list of backends. Those for the control are
    run on every backend.
    """
    os.environ.update(BACKEND=CONTROL, WORLD_SIZE=str(RANKS))
    module = importlib.import_module(_MODULE)
    os.environ["BACKEND"] = backend
    module.BACKEND = _Backend(backend)
    module.PROFILING_SUPPORTED_BACKENDS.append(backend)
    module.SEND_RECV_PROFILING_SUPPORTED_BACKENDS.append(backend)
    return module


def names() -> list[str]:
    """Return the names of all tests."""
    tests = load(CONTROL).DistributedTest._DistTestBase
    return sorted(each for each in dir(tests) if each.startswith("test_"))


def skip_of(name: str) -> str | None:
    """Return why a test is skipped on every backend, before any rank runs it; None if it is not."""
    method = getattr(load(CONTROL).DistributedTest._DistTestBase, name)
    if not getattr(method, "__unittest_skip__", False):
        return None
    return str(method.__unittest_skip_why__)


def case(module: Any, name: str, rank: int, file: str, limit: float) -> Any:
    """Return the test of a name, as a rank that runs it in this process."""

    class Case(module.TestDistBackend, module.DistributedTest._DistTestBase):
        def _barrier(self, wait_for: int | None = None, timeout: float = limit) -> None:
            module.Barrier.sync(wait_for, timeout)

    made = Case(name)
    made.rank = rank
    made.file_name = file
    return made

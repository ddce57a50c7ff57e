"""PyTorch's tests of ``reconfigure``.

They are in ``test/distributed/test_c10d_fault_tolerance.py`` of PyTorch's sources, and not in its
wheel.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

#: The number of ranks, as in PyTorch's runs of these tests.
RANKS = 3


def _tests(file: Path) -> Any:
    """Import the file, and return the class with the tests of all backends."""
    spec = importlib.util.spec_from_file_location("test_c10d_fault_tolerance", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.AbstractFaultToleranceTest


def names(file: Path) -> list[str]:
    """Return the names of the tests in the file."""
    return sorted(each for each in dir(_tests(file)) if each.startswith("test_"))


def run(file: Path, name: str, backend: str, rank: int, meeting: str) -> None:
    """Run a test as a rank, in this process.

    :param meeting: the path of the store's file
    """
    from torch.testing._internal.common_utils import TestCase

    class Case(_tests(file), TestCase):  # type: ignore[misc]
        backend_name = backend
        device_type = "cpu"

    made = Case(name)
    made.rank = rank
    made.file_name = meeting
    getattr(made, name)()

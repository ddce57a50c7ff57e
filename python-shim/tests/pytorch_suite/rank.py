"""A rank that runs one test."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import traceback
import unittest
from datetime import timedelta
from pathlib import Path

from . import RANKS, cases, fault_tolerance, folders
from .outcome import FAILED, PASSED, SKIPPED, Outcome, one_line


def run(
    name: str, backend: str, rank: int, folder: Path, limit: float, file: Path | None = None
) -> None:
    """Run a test as a rank of a barrier stage, and write how it has ended into a folder.

    After the limit the process ends, and leaves the stack of its threads in the folder. A failure
    is raised again, so that Spark ends the other ranks, who may wait for this one.

    :param file: that of the tests of ``reconfigure``, if it is one of them
    """
    os.environ["TEMP_DIR"] = str(folder)
    os.environ["INIT_METHOD"] = f"file://{folder / folders.REPEATED_MEETING}"
    with folders.stack_of(folder, rank).open("w") as stack:
        faulthandler.dump_traceback_later(limit, exit=True, file=stack)
        try:
            outcome = _outcome(name, backend, rank, folder, limit, file)
            folders.write(folder, rank, outcome)
        finally:
            faulthandler.cancel_dump_traceback_later()
    if outcome.kind == FAILED:
        raise AssertionError(f"rank {rank}: {outcome.reason}")


def _outcome(
    name: str, backend: str, rank: int, folder: Path, limit: float, file: Path | None
) -> Outcome:
    from torch.testing._internal.common_distributed import TEST_SKIPS

    try:
        if file is None:
            _run_test(name, backend, rank, folder, limit)
        else:
            _run_reconfiguration(file, name, backend, rank, folder)
    except unittest.SkipTest as e:
        return Outcome(SKIPPED, one_line(str(e)))
    except SystemExit as e:
        # How torch's decorators skip a test in a process of its own.
        for skip in TEST_SKIPS.values():
            if e.code == skip.exit_code:
                return Outcome(SKIPPED, one_line(skip.message))
        return Outcome(FAILED, f"exit with {e.code}")
    except BaseException as e:
        traceback.print_exc()
        # torch's test cases add how to run the test alone.
        why = str(e).partition("To execute this test")[0]
        return Outcome(FAILED, one_line(f"{type(e).__name__}: {why}"))
    return Outcome(PASSED)


def _run_test(name: str, backend: str, rank: int, folder: Path, limit: float) -> None:
    import torch
    import torch.distributed as dist
    from torch.testing._internal import common_utils

    import spark_collectives.torch  # noqa: F401

    torch.set_num_threads(1)
    module = cases.load(backend)
    test = cases.case(module, name, rank, str(folder / folders.MEETING), limit)
    seconds = module.CUSTOM_PG_TIMEOUT.get(name, module.default_pg_timeout)
    dist.init_process_group(
        backend,
        init_method="spark://" if backend == "spark" else test.init_method,
        world_size=RANKS,
        rank=rank,
        timeout=timedelta(seconds=seconds),
    )
    try:
        test._barrier()
        common_utils.set_rng_seed(common_utils.SEED)
        getattr(test, name)()
        test._barrier()
    finally:
        with contextlib.suppress(Exception):
            dist.destroy_process_group()


def _run_reconfiguration(file: Path, name: str, backend: str, rank: int, folder: Path) -> None:
    import torch
    import torch.distributed as dist

    import spark_collectives.torch  # noqa: F401

    torch.set_num_threads(1)
    try:
        fault_tolerance.run(file, name, backend, rank, str(folder / folders.MEETING))
    finally:
        with contextlib.suppress(Exception):
            dist.destroy_process_group()

"""TORCH_DISTRIBUTED_DEBUG and torch's set_debug_level, on groups of the backend "spark"."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

from torch_ranks import ranks_of_torch


def _shapes_differ(group):
    """Return the error of an all-reduce of other shapes on each rank, which have one size."""
    import torch
    import torch.distributed as dist

    import spark_collectives

    tensor = torch.ones((2, 3) if dist.get_rank() == 0 else (3, 2))
    try:
        dist.all_reduce(tensor, group=group)
    except spark_collectives.CollectiveMismatchError as e:
        assert isinstance(e, dist.DistBackendError)
        return str(e)
    assert tensor.sum() == 12
    return None


def _levels(rank, size):
    import torch.distributed as dist

    errors = {}
    for level in (dist.DebugLevel.OFF, dist.DebugLevel.INFO, dist.DebugLevel.DETAIL):
        dist.set_debug_level(level)
        errors[level.name] = _shapes_differ(dist.new_group())
    dist.set_debug_level(dist.DebugLevel.OFF)
    errors["OFF again"] = _shapes_differ(dist.new_group())
    return errors


def test_groups_compare_shapes_at_the_call_at_torchs_level_detail(spark):
    for errors in ranks_of_torch(spark, _levels, 2):
        assert errors["OFF"] is errors["INFO"] is errors["OFF again"] is None
        assert "2, 3" in errors["DETAIL"] or "2x3" in errors["DETAIL"]


def _operations_differ(rank, size):
    import torch
    import torch.distributed as dist

    import spark_collectives

    dist.set_debug_level(dist.DebugLevel.DETAIL)
    try:
        group = dist.new_group()
        if rank == 0:
            dist.all_reduce(torch.ones(4), group=group)
        else:
            dist.broadcast(torch.ones(4), 0, group=group)
    except spark_collectives.CollectiveMismatchError as e:
        return str(e)
    finally:
        dist.set_debug_level(dist.DebugLevel.OFF)


def test_the_error_of_two_operations_names_both(spark):
    for error in ranks_of_torch(spark, _operations_differ, 2):
        assert "all-reduce" in error or "all_reduce" in error or "allReduce" in error
        assert "broadcast" in error


def _of_environment(rank, size):
    import os

    import torch.distributed as dist

    os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
    try:
        dist.set_debug_level_from_env()
        group = dist.new_group()
        assert dist.get_debug_level() == dist.DebugLevel.DETAIL
    finally:
        del os.environ["TORCH_DISTRIBUTED_DEBUG"]
        dist.set_debug_level_from_env()
    return _shapes_differ(group)


def test_the_environment_variable_is_torchs(spark):
    assert all(ranks_of_torch(spark, _of_environment, 2))


def _logged(rank, size):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    dist.set_debug_level(dist.DebugLevel.INFO)
    try:
        model = DistributedDataParallel(torch.nn.Linear(2, 1))
        for _ in range(2):
            model(torch.ones(1, 2)).sum().backward()
        return model._get_ddp_logging_data()
    finally:
        dist.set_debug_level(dist.DebugLevel.OFF)


def test_distributed_data_parallel_logs_at_level_info(spark):
    for logged in ranks_of_torch(spark, _logged, 2):
        assert logged["backend_name"] == "spark"
        assert logged["world_size"] == 2


def test_torchs_level_does_not_lower_that_of_sparks_setting(monkeypatch):
    from spark_collectives import _debug_level, _task

    monkeypatch.setattr(_task, "debug_setting", lambda: "DETAIL")
    for level in _debug_level.DebugLevel:
        with _debug_level.at_least(level):
            assert _debug_level.get_debug_level() is _debug_level.DebugLevel.DETAIL
    monkeypatch.setattr(_task, "debug_setting", lambda: "OFF")
    with _debug_level.at_least(_debug_level.DebugLevel.INFO):
        assert _debug_level.get_debug_level() is _debug_level.DebugLevel.INFO
    assert _debug_level.get_debug_level() is _debug_level.DebugLevel.OFF

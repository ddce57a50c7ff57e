"""Failures and reused workers, as users of torch see them."""

import json
import os
import time

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")


def _all_reduce(group):
    import torch
    import torch.distributed as dist

    return lambda: dist.all_reduce(torch.ones(1000), group=group)


def _all_reduce_later(group):
    import torch
    import torch.distributed as dist

    return lambda: dist.all_reduce(torch.ones(1000), group=group, async_op=True).get_future().wait()


def _backward(group):
    import torch
    from torch.nn.parallel import DistributedDataParallel

    model = DistributedDataParallel(torch.nn.Linear(3, 2), process_group=group)
    loss = model(torch.ones(1, 3)).sum()

    def backward():
        loss.backward()
        assert model is not None  # it lives until then, and with it its hooks

    return backward


#: The operation of each rank with rank 1, in a group of the two, when rank 1 fails.
WAYS = {0: _all_reduce, 2: _all_reduce_later, 3: _backward}


def _fail(rank, folder):
    """Fail on rank 1; on each other rank, write the error of its operation to a file."""
    import torch.distributed as dist

    groups = {other: dist.new_group(sorted((1, other))) for other in WAYS}
    if rank == 1:
        for other, prepare in WAYS.items():
            prepare(groups[other])
        dist.barrier()
        raise ValueError("this rank has had enough")
    operation = WAYS[rank](groups[rank])
    dist.barrier()
    start = time.monotonic()
    try:
        operation()
    except Exception as e:
        failures = {"type": type(e).__name__, "text": str(e), "seconds": time.monotonic() - start}
        with open(f"{folder}/{rank}.part", "w") as file:
            json.dump(failures, file)
        os.rename(f"{folder}/{rank}.part", f"{folder}/{rank}.json")
        raise


def _await_all_others(folder):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if sum(name.endswith(".json") for name in os.listdir(folder)) == 3:
            return
        time.sleep(0.05)


def test_the_failure_of_a_rank_is_reported_to_all_others(spark, tmp_path):
    folder = str(tmp_path)

    def task(_rows):
        import torch.distributed as dist

        import spark_collectives.torch  # noqa: F401

        dist.init_process_group("spark")
        try:
            _fail(dist.get_rank(), folder)
        finally:
            dist.destroy_process_group()
        yield True

    job = spark.sparkContext.parallelize(range(4), 4).barrier().mapPartitions(task)
    with pytest.raises(Exception, match="this rank has had enough"):
        job.collect()
    _await_all_others(folder)
    failures = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("*.json")}
    assert sorted(failures) == ["0", "2", "3"]
    for each in failures.values():
        assert "this rank has had enough" in each["text"]
        assert "rank 1" in each["text"]
        assert each["seconds"] < 30


def test_a_worker_is_reused_after_a_task_that_destroyed_no_group(spark):
    def careless(_rows):
        import inspect
        import os
        import sys

        import torch
        import torch.distributed as dist

        import spark_collectives.torch  # noqa: F401

        dist.init_process_group("spark")
        other = dist.new_group()
        tensor = torch.ones(1)
        dist.all_reduce(tensor, group=other)
        work = dist.all_reduce(tensor, async_op=True)
        work.get_future().wait()
        hooks, hook = 0, sys.excepthook
        while hook.__module__ == "torch.distributed.distributed_c10d":
            hooks += 1
            hook = inspect.getclosurevars(hook).nonlocals["old_hook"]
        yield os.getpid(), tensor.item(), hooks

    def run():
        context = spark.sparkContext
        return context.parallelize(range(2), 2).barrier().mapPartitions(careless).collect()

    seen = [run() for _ in range(4)]
    assert all((total, hooks) == (4.0, 1) for rows in seen for _, total, hooks in rows)
    processes = [pid for rows in seen for pid, _, _ in rows]
    assert len(set(processes)) < len(processes), "no worker was reused"


def test_a_wrong_rank_is_refused(spark):
    def task(_rows):
        import torch.distributed as dist

        import spark_collectives
        import spark_collectives.torch

        rank = spark_collectives.init_process_group().rank
        try:
            dist.init_process_group("spark", rank=rank + 1, world_size=2)
        except ValueError as e:
            yield str(e)

    failures = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(task).collect()
    assert [text.split(":")[0] for text in failures] == [
        "rank=1 was given, and in this barrier stage it is 0",
        "rank=2 was given, and in this barrier stage it is 1",
    ]


def test_a_task_outside_of_a_barrier_stage_gets_an_error_that_says_what_to_write(spark):
    def task(_rows):
        import torch.distributed as dist

        import spark_collectives.torch  # noqa: F401

        try:
            dist.init_process_group("spark")
        except RuntimeError as e:
            yield str(e)

    (failures,) = spark.sparkContext.parallelize(range(1), 1).mapPartitions(task).collect()
    assert "rdd.barrier().mapPartitions" in failures


def test_the_driver_gets_an_error_that_says_where_the_backend_works(monkeypatch):
    import torch.distributed as dist

    import spark_collectives.torch  # noqa: F401

    for name in ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="not a task of a Spark barrier stage"):
        dist.init_process_group("spark")


def test_tensors_of_other_devices_are_refused(spark):
    from torch_ranks import ranks_of_torch

    def use(rank, size):
        import torch
        import torch.distributed as dist

        try:
            dist.all_reduce(torch.ones(2, device="meta"))
        except (TypeError, RuntimeError, NotImplementedError) as e:
            return "meta" in str(e)
        return False

    assert ranks_of_torch(spark, use, 2) == [True, True]


def test_a_timeout_counts_also_if_it_is_torchs_default(spark):
    def timeouts(_rows):
        import torch.distributed as dist
        from torch.distributed.constants import default_pg_timeout

        import spark_collectives
        import spark_collectives.torch

        spark_collectives.init_process_group(timeout=77)
        dist.init_process_group("spark")
        given = dist.new_group(timeout=default_pg_timeout)
        unset = dist.new_group()
        yield [
            dist.group.WORLD._timeout,
            given._timeout - default_pg_timeout.total_seconds(),
            unset._timeout,
        ]
        dist.destroy_process_group()

    rows = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(timeouts)
    assert rows.collect() == [[77.0, 0.0, 77.0]] * 2


def test_the_default_group_is_shrunk(spark):
    def shrink(rows):
        import torch
        import torch.distributed as dist

        import spark_collectives.torch  # noqa: F401

        dist.init_process_group("spark")
        other = dist.new_group()
        dist.all_reduce(torch.ones(1), group=other)
        if dist.get_rank() == 1:
            return
        dist.shrink_group([1], shrink_flags=dist.distributed_c10d.SHRINK_ABORT)
        tensor = torch.ones(1)
        dist.all_reduce(tensor)
        # What is made from now on has the ranks of the rest.
        for made in (dist.new_group(), dist.new_group([0, 1])):
            dist.all_reduce(tensor, group=made)
        alone = dist.new_group([1])
        if dist.get_rank() == 1:
            dist.all_reduce(tensor, group=alone)
        yield [dist.get_rank(), dist.get_world_size(), tensor.item()]
        dist.destroy_process_group()

    import torch.distributed as dist

    if not hasattr(dist, "shrink_group"):
        pytest.skip("this torch does not shrink groups")
    rows = spark.sparkContext.parallelize(range(3), 3).barrier().mapPartitions(shrink)
    assert rows.collect() == [[0, 2, 8.0], [1, 2, 8.0]]


def test_a_wait_for_a_work_has_its_own_timeout(spark):
    from torch_ranks import ranks_of_torch

    def use(rank, size):
        from datetime import timedelta

        import torch
        import torch.distributed as dist

        import spark_collectives

        store = spark_collectives.store()
        if rank == 1:
            store.get("rank 0 has waited")
            work = dist.all_reduce(torch.ones(1), async_op=True)
            return work.wait()
        work = dist.all_reduce(torch.ones(1), async_op=True)
        assert not work.is_completed()
        try:
            work.wait(timedelta(milliseconds=50))
        except spark_collectives.CollectiveTimeoutError as e:
            store.set("rank 0 has waited", "yes")
            return work.wait() and "0.05 s" in str(e)
        return False

    assert ranks_of_torch(spark, use, 2) == [True, True]

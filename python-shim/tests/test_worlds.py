"""The world group of a task: joining it, leaving it, and joining another."""

import datetime
import os

import numpy as np
import pytest

import spark_collectives as dist
from spark_collectives import _task


def test_a_reused_python_process_has_a_new_group(ranks):
    def name(rank, size):
        return os.getpid(), dist.world().name

    # An executor may have several idle processes, and use another one the next time.
    runs = [ranks(name, 2) for _ in range(4)]
    processes = [pid for run in runs for pid, _ in run]
    assert len(set(processes)) < len(processes), "no process was reused"
    assert len({name for run in runs for _, name in run}) == len(runs)


def test_a_destroyed_group_refuses_operations_until_the_task_joins_another(ranks):
    def destroy(rank, size):
        group = dist.world()
        array = group.zeros(1000)
        dist.destroy_process_group()
        assert not dist.is_initialized()
        with pytest.raises(RuntimeError, match="init_process_group"):
            dist.barrier()
        with pytest.raises(dist.CollectiveError):
            group.barrier()
        dist.destroy_process_group()
        names = {group.name}
        for _ in range(2):
            again = dist.init_process_group(timeout=60)
            assert again is dist.world()
            array += rank
            total = np.full(300_000, rank + 1.0)
            dist.all_reduce(total)
            assert (total == size * (size + 1) / 2).all()
            dist.store().set(f"key {rank}", "value")
            dist.store().wait([f"key {each}" for each in range(size)])
            names.add(again.name)
            half = dist.new_group([0, 1])
            if rank < 2:
                dist.barrier(half)
            dist.destroy_process_group()
        with pytest.raises(dist.GroupClosedError):
            group.barrier()
        return len(names)

    assert ranks(destroy, 3) == [3, 3, 3]


@pytest.mark.parametrize("mapped", [True, False])
def test_who_destroys_the_world_group_has_the_results_of_all_groups(ranks, mapped):
    def destroy(rank, size):
        _task.current().can_map = mapped
        arrays = [np.full(count, rank + 1.0) for count in (10, 10, 100_000)]
        groups = [dist.world(), dist.new_group([0, 1]), dist.world()]
        works = [
            dist.all_reduce(each, group=group, async_op=True) for each, group in zip(arrays, groups)
        ]
        dist.destroy_process_group()
        return [each[0] for each in arrays], [work.wait() for work in works]

    assert ranks(destroy, 2) == [([3.0] * 3, [True] * 3)] * 2


def test_a_rank_that_aborts_a_later_world_group_is_named_to_the_others(ranks):
    def abort(rank, size):
        dist.destroy_process_group()
        dist.init_process_group(timeout=60)
        dist.barrier()
        if rank == 1:
            dist.abort_process_group("rank 1 has lost the thread")
            return None
        with pytest.raises(dist.PeerFailedError, match="has lost the thread") as error:
            dist.barrier()
        return error.value.rank

    assert ranks(abort, 2) == [1, None]


def test_a_forked_process_leaves_the_ranks_connections_alone(ranks):
    def fork(rank, size):
        group = dist.world()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                dist.init_process_group()
            except RuntimeError as e:
                code = 0 if "forked" in str(e) else 2
            os._exit(code)
        _, status = os.waitpid(child, 0)
        array = np.ones(1000)
        group.all_reduce(array)
        return os.waitstatus_to_exitcode(status), array[0]

    assert ranks(fork, 2) == [(0, 2.0)] * 2


def test_a_task_outside_of_a_barrier_stage_gets_an_error_that_says_so(spark):
    def init(_rows):
        dist.init_process_group()

    with pytest.raises(Exception, match="not in a barrier stage"):
        spark.sparkContext.parallelize(range(1), 1).mapPartitions(init).collect()


def test_the_driver_gets_an_error_because_it_is_no_rank(spark):
    with pytest.raises(RuntimeError, match="inside a Spark task"):
        dist.init_process_group()
    with pytest.raises(RuntimeError, match="init_process_group"):
        dist.all_reduce(np.ones(1))


def test_a_group_is_joined_with_the_arguments_of_torch(spark):
    def task(_rows):
        for error, wrong, text in (
            (TypeError, {"backend": 60}, "init_process_group.timeout"),
            (ValueError, {"backend": "nccl"}, "host memory"),
            (ValueError, {"backend": "cpu:gloo,cuda:nccl"}, "host memory"),
            (ValueError, {"backend": "nothing"}, "nothing"),
            (ValueError, {"init_method": "tcp://10.0.0.1:29500"}, "through the driver"),
            (ValueError, {"store": object()}, "through that of the driver"),
            (ValueError, {"pg_options": object()}, "pg_options"),
            (ValueError, {"device_id": "cuda:0"}, "must be the CPU"),
            (ValueError, {"timeout": 0}, "more than zero"),
        ):
            with pytest.raises(error, match=text):
                dist.init_process_group(**wrong)
        with pytest.raises(ValueError, match="Rank 1 of 2 was given, and this task is rank 0 of 1"):
            dist.init_process_group(rank=1, world_size=2)
        assert not dist.is_initialized() and dist.group.WORLD is None
        found = dist.init_process_group("gloo", "env://", datetime.timedelta(seconds=50), 1, 0)
        for wrong in ({"rank": 1}, {"world_size": 2}):
            with pytest.raises(ValueError, match="was given, and this task is rank 0 of 1"):
                dist.init_process_group(**wrong)
        assert dist.init_process_group(timeout=20, rank=0, world_size=1) is found
        assert found is dist.group.WORLD is dist.GroupMember.WORLD
        assert dist.GroupMember.NON_GROUP_MEMBER is dist.NON_GROUP_MEMBER
        yield dist.get_backend(), dist.get_backend_config(), found.timeout

    rows = spark.sparkContext.parallelize(range(1), 1).barrier().mapPartitions(task)
    assert rows.collect() == [("gloo", "cpu:gloo", 50.0)]


def test_a_backend_of_the_java_library_can_be_asked_for(ranks):
    def fake(rank, size):
        group = dist.new_group(backend="fake")
        array = np.full(3, rank + 1.0)
        dist.all_reduce(array, group=group)
        assert dist.get_backend() == "spark"
        return dist.get_backend(group), array[0]

    # The backend "fake" exchanges nothing.
    assert ranks(fake, 2) == [("fake", 1.0), ("fake", 2.0)]


def test_the_debug_level_is_that_of_the_groups_made_from_then_on(ranks):
    def level(rank, size):
        assert dist.get_debug_level() is dist.DebugLevel.OFF
        with pytest.raises(TypeError, match=r"DebugLevel\.INFO"):
            dist.set_debug_level("DETAIL")
        dist.set_debug_level(dist.DebugLevel.DETAIL)
        group = dist.new_group()
        os.environ["TORCH_DISTRIBUTED_DEBUG"] = "info"
        try:
            assert dist.get_debug_level() is dist.DebugLevel.DETAIL
            dist.set_debug_level_from_env()
            assert dist.get_debug_level() is dist.DebugLevel.INFO
            os.environ["TORCH_DISTRIBUTED_DEBUG"] = "all"
            with pytest.raises(ValueError, match="OFF, INFO or DETAIL, and is 'all'"):
                dist.set_debug_level_from_env()
        finally:
            del os.environ["TORCH_DISTRIBUTED_DEBUG"]
        # The shapes differ, and the sizes do not: only DETAIL compares shapes.
        with pytest.raises(dist.CollectiveMismatchError) as error:
            dist.all_reduce(np.ones((2, 3) if rank else (3, 2)), group=group)
        return str(error.value)

    assert all("2, 3" in each or "2x3" in each for each in ranks(level, 2))


def test_the_backend_for_arrays_is_there_and_those_of_gpus_are_not():
    for name, there in (
        ("spark", True),
        ("gloo", True),
        ("cpu:spark", True),
        ("nccl", False),
        ("cuda:gloo", False),
        ("mpi", False),
    ):
        assert dist.is_backend_available(name) is there

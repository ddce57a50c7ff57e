"""Groups of torch whose members change: ``torch.distributed._reconfigure``."""

import re
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch.distributed as dist

from spark_collectives.torch import private
from spark_collectives.torch.reconfiguration import Reconfiguration
from torch_ranks import ranks_of_torch

with_reconfigure = pytest.mark.skipif(
    not private.CAN_RECONFIGURE, reason="this torch cannot change the members of a group"
)


@pytest.fixture
def ranks(spark):
    """Run a function of (rank, size, exchanged) on ranks whose default group has no members yet."""

    def run(fn, size):
        def task(_rows):
            import torch
            import torch.distributed as dist

            import spark_collectives.torch

            torch.set_num_threads(1)
            dist.init_process_group("spark", enable_reconfigure=True)
            rank, store = dist.get_rank(), spark_collectives.torch.SparkStore("handles/")

            def exchanged(name):
                """Return the handles of all ranks, in the order of their partitions."""
                store.set(f"{name}/{rank}", dist._get_reconfigure_handle())
                return [store.get(f"{name}/{each}").decode() for each in range(size)]

            try:
                yield rank, fn(rank, size, exchanged)
            finally:
                dist.destroy_process_group()

        rows = spark.sparkContext.parallelize(range(size), size).barrier().mapPartitions(task)
        return [value for _, value in sorted(rows.collect(), key=lambda row: row[0])]

    return run


def all_reduced():
    import torch
    import torch.distributed as dist

    tensor = torch.full((4,), dist.get_rank() + 1.0)
    dist.all_reduce(tensor)
    return tensor[0].item()


@with_reconfigure
def test_rank_and_size_follow_the_members(ranks):
    def change(rank, size, exchanged):
        import torch
        import torch.distributed as dist

        group = dist.group.WORLD
        assert dist._supports_reconfigure()
        seen = [(dist.get_rank(), dist.get_world_size())]
        work = dist._reconfigure(10 + rank, [dist._get_reconfigure_handle()])
        assert work.wait() and work.is_success()
        seen.append((dist.get_rank(), dist.get_world_size(), all_reduced()))
        dist._reconfigure(1, exchanged("all")[::-1]).wait()
        assert dist.group.WORLD is group and group._get_sequence_number_for_group() == 0
        seen.append((dist.get_rank(), dist.get_world_size(), all_reduced()))
        assert (group.rank(), group.size()) == (dist.get_rank(), size)
        assert dist.get_process_group_ranks(None) == list(range(size))

        # What is made of it has its ranks.
        pair = dist.new_group([0, 1])
        if dist.get_rank() < 2:
            total = torch.tensor([float(rank)])
            dist.all_reduce(total, group=pair)
            seen.append((dist.get_rank(pair), total.item()))
        parts = dist.split_group(split_ranks=[[2, 0], [1]])
        assert parts.size() == (1 if dist.get_rank() == 1 else 2)

        handles = exchanged("some")
        if rank != 0:
            dist._reconfigure(2, set(handles[1:])).wait()
            assert dist.get_process_group_ranks(None) == [0, 1]
            seen.append((dist.get_rank(), dist.get_world_size(), all_reduced()))
        return seen

    first, second, third = ranks(change, 3)
    assert first == [(0, 3), (0, 1, 1.0), (2, 3, 6.0)]
    assert second == [(1, 3), (0, 1, 1.0), (1, 3, 6.0), (1, 3.0), (0, 2, 3.0)]
    assert third == [(2, 3), (0, 1, 1.0), (0, 3, 6.0), (0, 3.0), (1, 2, 3.0)]


@with_reconfigure
def test_a_model_is_trained_by_other_ranks_after_a_change(ranks):
    def train(rank, size, exchanged):
        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel

        gradients = []
        for members in (3, 2):
            handles = exchanged(str(members))[:members]
            if rank < members:
                dist._reconfigure(members, handles).wait()
                model = DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
                model(torch.tensor([[rank + 1.0]])).sum().backward()
                gradients.append(model.module.weight.grad.item())
        return gradients

    assert ranks(train, 3) == [[2.0, 1.5], [2.0, 1.5], [2.0]]


@with_reconfigure
def test_what_makes_no_group_is_refused_as_torch_refuses_it(ranks):
    def refused(rank, size, exchanged):
        from datetime import timedelta

        import torch
        import torch.distributed as dist

        errors = []
        handles = exchanged("first")

        def fails(call):
            with pytest.raises(RuntimeError) as raised:
                call()
            errors.append(f"{type(raised.value).__name__}: {raised.value}")

        fails(lambda: dist.all_reduce(torch.ones(1)))
        fails(lambda: dist._reconfigure(1, []))
        fails(lambda: dist._reconfigure(1, ["handle"]))
        if rank == 0:
            # Rank 1 does not come.
            fails(lambda: dist._reconfigure(1, handles, timeout=timedelta(seconds=1)))
        dist._reconfigure(2, handles, timeout=timedelta(seconds=60), hints={"any": "hint"}).wait()
        if rank == 0:
            alone = [dist._get_reconfigure_handle()]
            fails(lambda: dist._reconfigure(2, alone))
        return errors, all_reduced()

    (errors, total), (_, other) = ranks(refused, 2)
    assert total == other == 3.0
    for error, words in zip(
        errors,
        (
            "GroupClosedError.*call reconfigure",
            "ArgumentError: Reconfigure requires at least one handle",
            "ArgumentError: Invalid Spark reconfigure handle: handle",
            "CollectiveTimeoutError.*1",
            "ArgumentError: Spark reconfigure uuid 2 was already used",
        ),
    ):
        assert re.match(words, error), error
    assert len(errors) == 5


@with_reconfigure
def test_a_group_that_was_aborted_or_destroyed_begins_anew(ranks):
    def change(rank, size, exchanged):
        import torch.distributed as dist

        dist._reconfigure(1, exchanged("first")).wait()
        before = all_reduced()
        dist.group.WORLD.abort()
        assert dist.group.WORLD.get_error() == private.NO_ERROR
        with pytest.raises(RuntimeError):
            all_reduced()
        dist._reconfigure(2, exchanged("second")).wait()
        after = all_reduced()
        dist.destroy_process_group()
        dist.init_process_group("spark", enable_reconfigure=True)
        # The numbers of this group have not been used.
        dist._reconfigure(1, exchanged("third")).wait()
        return before, after, all_reduced()

    assert ranks(change, 2) == [(3.0, 3.0, 3.0)] * 2


@with_reconfigure
def test_a_group_without_a_rendezvous_joins_no_world(spark):
    def task(_rows):
        from datetime import timedelta

        import torch.distributed as dist
        from pyspark import BarrierTaskContext

        import spark_collectives
        import spark_collectives.torch

        rank = BarrierTaskContext.get().partitionId()
        given = {"store": dist.HashStore(), "timeout": timedelta(seconds=60)}
        try:
            dist.init_process_group(
                "spark", rank=rank + 1, world_size=2, enable_reconfigure=True, **given
            )
        except ValueError as e:
            assert "the rank of a task is its partition" in str(e)
        dist.init_process_group("spark", rank=rank, world_size=2, enable_reconfigure=True, **given)
        assert not spark_collectives.is_initialized()
        dist._reconfigure(rank, [dist._get_reconfigure_handle()]).wait()
        yield all_reduced()
        dist.destroy_process_group()

    rows = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(task)
    assert rows.collect() == [1.0, 1.0]


@with_reconfigure
def test_a_group_with_several_backends_keeps_its_members(spark):
    def task(_rows):
        import torch.distributed as dist

        import spark_collectives.torch  # noqa: F401

        try:
            dist.init_process_group("cpu:spark,cuda:gloo", enable_reconfigure=True)
        except RuntimeError as e:
            yield str(e)

    rows = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(task)
    for said in rows.collect():
        assert "multiple backends" in said


def test_a_group_that_was_made_as_ever_keeps_its_members_and_says_what_to_do(spark):
    def use(rank, size):
        import torch.distributed as dist

        group = dist.group.WORLD
        assert not group.supports_reconfigure
        errors = []
        for call in (group.get_reconfigure_handle, lambda: group.reconfigure(None)):
            with pytest.raises(RuntimeError) as raised:
                call()
            errors.append(str(raised.value))
        return errors

    for errors in ranks_of_torch(spark, use, 2):
        for said in errors:
            assert "enable_reconfigure=True" in said
            assert ("does not have" in said) != hasattr(dist, "_reconfigure")


def test_a_torch_without_it_is_named(monkeypatch):
    monkeypatch.setattr(private, "CAN_RECONFIGURE", False)
    monkeypatch.setattr(private, "VERSION", "2.7.1")
    with pytest.raises(RuntimeError, match=r"which torch 2\.7\.1 does not have.*any torch"):
        Reconfiguration._reconfigurable(SimpleNamespace(group="a group"))

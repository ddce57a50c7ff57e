"""Operations of the backend "spark" in the traces of torch.profiler, beside gloo's."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

from torch_ranks import IS_NEWEST, ranks_of_torch

pytestmark = pytest.mark.skipif(
    not IS_NEWEST, reason="this torch loses events that another thread ends"
)


def _trace(rank, size, folder):
    """Return the name, the shapes and the types of each of the backend's events, in some order."""
    import json

    import torch
    import torch.distributed as dist
    from torch.profiler import ProfilerActivity, profile

    part, all_parts = torch.ones(3, 4), [torch.ones(3, 4, dtype=torch.float64) for _ in range(size)]
    wide = torch.ones(size, 4)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        dist.all_reduce(part)
        dist.all_reduce(torch.ones(2, dtype=torch.int32), async_op=True).wait()
        dist.broadcast(part, 0)
        dist.reduce(part, 0)
        dist.all_gather(all_parts, all_parts[0] + 1)
        dist.all_gather_into_tensor(torch.empty(size * 3, 4), part)
        dist.gather(part, [torch.empty(3, 4) for _ in range(size)] if rank == 0 else None)
        dist.scatter(part, [torch.ones(3, 4) for _ in range(size)] if rank == 0 else None)
        dist.all_to_all_single(torch.empty(size, 4), wide)
        dist.barrier()
        if rank == 0:
            dist.send(part, 1)
        elif rank == 1:
            dist.recv(part, 0)
            dist.recv(part)
        if rank == 0:
            dist.send(part, 1)
    file = f"{folder}/{dist.get_backend()}-{rank}.json"
    profiler.export_chrome_trace(file)
    prefix = f"{dist.get_backend()}:"
    with open(file) as trace:
        events = json.load(trace)["traceEvents"]
    assert all(each.is_async for each in profiler.events() if each.name.startswith(prefix))
    return sorted(
        (
            each["name"][len(prefix) :],
            str(each["args"].get("Input Dims", [])),
            str(each["args"].get("Input type", [])),
        )
        for each in events
        if each.get("name", "").startswith(prefix)
    )


def test_the_profiler_shows_the_names_the_shapes_and_the_types_that_it_shows_for_gloo(
    spark, tmp_path
):
    ours = ranks_of_torch(spark, _trace, 2, arguments=[str(tmp_path)])
    gloo = ranks_of_torch(spark, _trace, 2, backend="gloo", arguments=[str(tmp_path)])
    assert ours == gloo
    assert ("all_reduce", "[[3, 4]]", "['float']") in ours[0]
    assert ("all_reduce", "[[2]]", "['int']") in ours[0]


def _refused(rank, size):
    import torch
    import torch.distributed as dist
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        try:
            dist.all_reduce(torch.ones(2, device="meta"))
        except Exception:
            dist.all_reduce(torch.ones(2))
    return [each.name for each in profiler.events() if each.name.startswith("spark:")]


def test_an_operation_that_fails_ends_its_event(spark):
    assert ranks_of_torch(spark, _refused, 2) == [["spark:all_reduce"] * 2] * 2


def _refused_list(rank, size):
    import torch
    import torch.distributed as dist
    from torch.profiler import ProfilerActivity, profile

    meta = torch.ones(2, device="meta")
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for call in (
            lambda: dist.group.WORLD.allgather_coalesced([[meta]] * size, [meta]),
            lambda: dist.group.WORLD.allreduce([torch.ones(2)], None, timeout="soon"),
        ):
            try:
                call()
            except Exception:
                continue
            raise AssertionError("a wrong argument was taken")
    return [each.name for each in profiler.events() if each.name.startswith("spark:")]


def test_a_list_that_is_refused_ends_its_event_and_a_wrong_timeout_begins_none(spark):
    assert ranks_of_torch(spark, _refused_list, 2) == [["spark:all_gather"]] * 2


def test_an_operation_asks_for_a_profiler_in_less_than_a_microsecond():
    import timeit

    import torch

    from spark_collectives.torch import profiling

    tensors = [torch.ones(1)]
    assert profiling.begin("allreduce", tensors) is None
    calls = 100_000
    taken = min(timeit.repeat(lambda: profiling.begin("allreduce", tensors), number=calls))
    assert taken / calls < 1e-6

"""The options with which torch creates groups: its ``Backend.Options``, beside those of gloo."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

from torch_ranks import IS_NEWEST, ranks_of_torch


def _options(backend, seconds=700):
    """Create options as a program does that has its groups of this backend."""
    from datetime import timedelta

    import torch.distributed as dist

    from spark_collectives.torch import private

    if backend == "gloo":
        made = dist.ProcessGroupGloo._Options()
        made._devices = [dist.ProcessGroupGloo.create_device(hostname="127.0.0.1")]
        made._timeout = timedelta(seconds=seconds)
        return made
    return private.Options(backend, timedelta(seconds=seconds))


def _seconds(group):
    import torch

    own = getattr(group, "_timeout", None)
    if own is not None:
        return own
    return group._get_backend(torch.device("cpu")).options._timeout.total_seconds()


def _split(rank, size, backend):
    from datetime import timedelta

    import torch.distributed as dist

    every = list(range(size))
    world = dist.group.WORLD
    # A group that is collected closes its connections, perhaps while another rank still connects.
    kept = []

    def seconds(group):
        kept.append(group)
        return _seconds(group)

    longer = timedelta(seconds=900)
    found = {
        "options": seconds(world.split_group(every, opts=_options(backend), group_name="a")),
        "both": seconds(
            world.split_group(every, timeout=longer, opts=_options(backend), group_name="b")
        ),
        "neither": seconds(world.split_group(every, group_name="c")) == _seconds(world),
        "through torch": seconds(
            dist.split_group(split_ranks=[every], timeout=longer, pg_options=_options(backend))
        ),
    }
    dist.barrier()
    try:
        # The error is the same on a rank that is not to be in the group.
        world.split_group([0], opts="700 s", group_name="d")
    except TypeError as e:
        found["wrong"] = str(e).split(".")[0]
    return found


@pytest.mark.skipif(not IS_NEWEST, reason="this torch splits groups of GPUs only")
@pytest.mark.parametrize("backend", ["gloo", "spark"])
def test_the_options_of_a_split_count_as_they_do_with_gloo(spark, backend):
    import torch.distributed as dist

    if not hasattr(dist.ProcessGroup, "split_group"):
        pytest.skip("this torch has no split_group of groups")
    for each in ranks_of_torch(spark, _split, 2, backend, [backend]):
        assert each == {
            "options": 700.0,
            "both": 900.0,
            "neither": True,
            "through torch": 900.0,
            "wrong": "split_group(): incompatible function arguments",
        }


def _new(rank, size):
    import warnings
    from datetime import timedelta

    import torch.distributed as dist
    from torch.distributed.constants import default_pg_timeout

    default = _seconds(dist.group.WORLD)

    def new(options, timeout=None):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            group = dist.new_group(timeout=timeout, pg_options=options)
        words = [str(each.message) for each in told if "timeout" in str(each.message)]
        seconds = _seconds(group)
        return ["default" if seconds == default else seconds, words]

    longer = timedelta(seconds=900)
    return {
        "options": new(_options("spark")),
        "gloo's": new(_options("gloo")),
        "without a timeout": new(_options("spark", default_pg_timeout.total_seconds())),
        "of another backend": new(_options("nccl")),
        "of no kind": new("700 s"),
        "both alike": new(_options("spark", 900), longer),
        "both": new(_options("spark"), longer),
    }


def test_the_timeout_in_the_options_of_a_new_group_counts_unless_the_call_has_another(spark):
    for each in ranks_of_torch(spark, _new, 2):
        both = each.pop("both")
        assert both[0] == 900.0 and "0:11:40" in both[1][0] and "0:15:00" in both[1][0]
        assert each == {
            "options": [700.0, []],
            "gloo's": [700.0, []],
            "without a timeout": ["default", []],
            "of another backend": ["default", []],
            # gloo looks at no options of a new group.
            "of no kind": ["default", []],
            "both alike": [900.0, []],
        }


def test_the_timeout_in_the_options_of_the_default_group_counts(spark):
    def begin(_rows):
        import torch.distributed as dist

        import spark_collectives.torch  # noqa: F401

        dist.init_process_group("spark", pg_options=_options("spark"))
        yield _seconds(dist.group.WORLD)
        dist.destroy_process_group()

    rows = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(begin)
    assert rows.collect() == [700.0, 700.0]


def _shrink(rank, size):
    import torch.distributed as dist

    group = dist.new_group()
    if rank == size - 1:
        return None
    try:
        group.shrink([size - 1], opts="700 s")
    except TypeError as e:
        words = str(e).split(".")[0]
    shrunk = group.shrink([size - 1], opts=_options("spark"))
    found = [words, _seconds(shrunk), _seconds(shrunk.shrink([1])) if rank == 0 else 700.0]
    return found


def test_a_group_that_is_shrunk_has_the_timeout_of_its_options_or_else_of_the_group(spark):
    expected = ["shrink(): incompatible function arguments", 700.0, 700.0]
    assert ranks_of_torch(spark, _shrink, 3) == [expected, expected, None]

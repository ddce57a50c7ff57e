"""SparkStore as a store of torch, and torch's own groups with a rendezvous through it."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

from datetime import timedelta

from torch_ranks import ranks_of_torch


@pytest.fixture
def stores(spark):
    """Run a function of (store, rank, size) on each rank, with a new part of the store."""

    def run(fn, size=2):
        def task(_rows):
            import spark_collectives
            from spark_collectives.torch import SparkStore

            world = spark_collectives.init_process_group(timeout=60)
            yield world.rank, fn(SparkStore(f"{fn.__name__}/"), world.rank, world.size)
            spark_collectives.barrier()

        rows = spark.sparkContext.parallelize(range(size), size).barrier().mapPartitions(task)
        return [value for _, value in sorted(rows.collect(), key=lambda row: row[0])]

    return run


def test_ranks_get_the_values_that_other_ranks_set(stores):
    def use(store, rank, size):
        store.set(f"from {rank}", f"value {rank}")
        return [store.get(f"from {other}") for other in range(size)]

    assert stores(use, 4) == [[b"value 0", b"value 1", b"value 2", b"value 3"]] * 4


def test_numbers_are_added_up(stores):
    def use(store, rank, size):
        store.add("sum", rank + 1)
        store.add("arrived", 1)
        while store.add("arrived", 0) < size:
            pass
        return store.add("sum", 0), store.get("sum")

    assert stores(use, 4) == [(10, b"10")] * 4


def test_a_value_is_set_if_it_is_the_expected_one(stores):
    def use(store, rank, size):
        if rank:
            return None
        return [
            store.compare_set("key", "", "first"),
            store.compare_set("key", "other", "second"),
            store.compare_set("key", "first", "third"),
            store.get("key"),
        ]

    assert stores(use)[0] == [b"first", b"first", b"third", b"third"]


def test_a_wait_ends_when_all_keys_exist(stores):
    def use(store, rank, size):
        if rank == 0:
            store.wait(["a", "b"], timedelta(seconds=30))
            return store.check(["a", "b"]), store.check(["a", "c"])
        store.set("a", "1")
        store.set("b", "2")
        return None

    assert stores(use)[0] == (True, False)


def test_a_wait_that_times_out_raises_an_error_of_torch_that_names_the_keys(stores):
    def use(store, rank, size):
        import time

        import torch.distributed as dist

        raised = []
        store.set_timeout(timedelta(milliseconds=200))
        for call in (
            lambda: store.wait(["missing key"], timedelta(milliseconds=200)),
            lambda: store.get("missing key"),
            lambda: dist.PrefixStore("more", store).get("missing key"),
        ):
            start = time.monotonic()
            try:
                call()
            except dist.DistStoreError as e:
                raised.append(("missing key" in str(e), time.monotonic() - start < 30))
        return raised

    assert stores(use) == [[(True, True)] * 3] * 2


def test_keys_are_deleted_and_counted(stores):
    def use(store, rank, size):
        if rank:
            return None
        before = store.num_keys()
        store.set("one", "1")
        store.set("two", "2")
        return (
            store.num_keys() - before,
            store.delete_key("one"),
            store.delete_key("one"),
            store.check(["one"]),
            sorted(store.list_keys()),
        )

    assert stores(use)[0] == (2, True, False, False, ["two"])


def test_several_values_are_set_at_once_and_values_are_appended_to(stores):
    def use(store, rank, size):
        if rank:
            return None
        store.append("grows", "ab")
        store.append("grows", b"\x00c")
        store.multi_set(["x", "y"], ["1", b"\xff"])
        return store.multi_get(["grows", "x", "y"]), store.has_extended_api()

    assert stores(use)[0] == ([b"ab\x00c", b"1", b"\xff"], True)


def test_a_queue_returns_the_oldest_value(stores):
    def use(store, rank, size):
        import torch.distributed as dist

        if rank:
            return None
        store.queue_push("queue", "a")
        store.queue_push("queue", b"b")
        taken = [store.queue_len("queue"), store.queue_pop("queue"), store.queue_pop("queue")]
        try:
            store.queue_pop("queue", block=False)
        except RuntimeError as e:
            kind = getattr(dist, "QueueEmptyError", dist.DistStoreError)
            taken.append(isinstance(e, kind))
        return taken

    assert stores(use)[0] == [2, b"a", b"b", True]


def test_torchs_own_test_of_stores_in_python_passes(stores):
    def use(store, rank, size):
        from torch._C._distributed_c10d import _test_python_store

        if rank == 0:
            _test_python_store(store)
        return True

    assert stores(use) == [True, True]


def test_torchs_prefix_stores_and_clones_see_the_same_keys(stores):
    def use(store, rank, size):
        import gc

        import torch.distributed as dist

        # No Python object references the inner store.
        inner = dist.PrefixStore("a", dist.PrefixStore("b", store.clone()))
        gc.collect()
        inner.set(f"key {rank}", "value")
        return inner.get(f"key {1 - rank}"), store.get(f"b/a/key {rank}")

    assert stores(use) == [(b"value", b"value")] * 2


def gloo_sums(rank, size):
    import torch
    import torch.distributed as dist

    assert dist.get_backend() == "gloo"
    tensor = torch.ones(3) * (rank + 1)
    dist.all_reduce(tensor)
    inner = dist.new_group(list(range(size)))
    dist.all_reduce(tensor, group=inner)
    return tensor.tolist()


def test_the_ranks_of_gloo_meet_through_the_store_of_the_driver(spark):
    assert ranks_of_torch(spark, gloo_sums, 2, "gloo") == [[6.0] * 3] * 2


def gloo_beside_ours(rank, size):
    import torch
    import torch.distributed as dist

    group = dist.new_group(backend="gloo")
    tensor = torch.ones(1)
    dist.all_reduce(tensor)
    dist.all_reduce(tensor, group=group)
    return dist.get_backend(), dist.get_backend(group), tensor.item()


def test_a_group_of_gloo_lives_beside_the_default_group(spark):
    assert ranks_of_torch(spark, gloo_beside_ours, 2) == [("spark", "gloo", 4.0)] * 2


def test_init_process_group_accepts_the_store_and_the_scheme(spark):
    def task(_rows):
        import torch
        import torch.distributed as dist

        import spark_collectives
        from spark_collectives.torch import SparkStore

        world = spark_collectives.init_process_group()
        seen = []
        for arguments in (
            {"store": SparkStore("given/"), "rank": world.rank, "world_size": world.size},
            {"init_method": "spark://"},
            {"rank": world.rank, "world_size": world.size},
        ):
            for backend in ("gloo", "spark"):
                if backend == "spark" and "store" in arguments:
                    arguments["store"] = SparkStore("given again/")
                dist.init_process_group(backend, **arguments)
                tensor = torch.ones(1)
                dist.all_reduce(tensor)
                seen.append(tensor.item())
                dist.destroy_process_group()
        yield seen

    rows = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(task).collect()
    assert rows == [[2.0] * 6] * 2


def test_ranks_wait_for_each_other_in_the_stores_barrier(stores):
    def use(store, rank, size):
        import torch.distributed as dist

        for _ in range(3):
            store.add("arrived", 1)
            store.barrier("all", size)
        total = store.get("arrived")
        store.set_timeout(timedelta(milliseconds=100))
        assert store.timeout == store.clone().timeout == timedelta(milliseconds=100)
        assert store.has_extended_api()
        with pytest.raises(dist.DistStoreError, match="1 of 3"):
            store.barrier(f"lonely {rank}", 3)
        return total

    assert stores(use) == [b"6", b"6"]

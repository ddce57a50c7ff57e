"""The store and checkpoints."""

import datetime
import os

import numpy as np
import pytest

import spark_collectives as dist


def test_large_values_of_the_store_are_sent_in_pieces(ranks):
    def store(rank, size):
        from spark_collectives import _frames

        keys = dist.store()
        whole, _frames.PIECE_BYTES = _frames.PIECE_BYTES, 100_000
        try:
            values = [os.urandom(n) for n in (99_999, 2, 100_000, 350_001)]
            names = [f"{rank}/{i}" for i in range(4)]
            keys.multi_set(names, values)
            assert keys.multi_get(names) == values
            assert keys.compare_set(names[0], values[0], values[3]) == values[3]
            keys.append(names[1], values[3])
            assert keys.get(names[1]) == values[1] + values[3]
            keys.queue_push(f"{rank}/queue", values[3])
            assert keys.queue_pop(f"{rank}/queue") == values[3]
            with pytest.raises(dist.StoreError):
                keys.queue_push(names[0], values[3])
            keys.set(names[0], values[2])
            assert keys.get(names[0]) == values[2]
            _frames.MAX_VALUE_BYTES, most = 350_000, _frames.MAX_VALUE_BYTES
            try:
                with pytest.raises(ValueError, match=r"350,001 bytes .* 350,000 .* in parts"):
                    keys.set(names[2], values[3])
            finally:
                _frames.MAX_VALUE_BYTES = most
            assert keys.get(names[2]) == values[2]
        finally:
            _frames.PIECE_BYTES = whole
        if rank == 0:
            keys.set("large", bytes(40_000_000))
        return len(keys.get("large"))

    assert ranks(store, 2) == [40_000_000] * 2


def test_the_store_has_the_semantics_of_torchs_store(ranks):
    def store(rank, size):
        keys = dist.store()
        dist.barrier()
        if rank == 0:
            keys.set("greeting", "hello")
        assert keys.get("greeting") == b"hello"
        assert keys.add("count", 2) > 0
        dist.barrier()
        assert keys.get("count") == str(2 * size).encode()
        assert keys.compare_set("lock", "", f"rank {rank}") == keys.get("lock")
        assert keys.check(["greeting", "lock"]) and not keys.check(["greeting", "nothing"])
        with pytest.raises(dist.StoreTimeoutError, match="nothing"):
            keys.wait(["nothing"], timeout=0.1)
        with pytest.raises(TimeoutError):
            keys.get("nothing", timeout=datetime.timedelta(milliseconds=100))
        keys.multi_set([f"a{rank}", f"b{rank}"], ["1", b"\x00\xff"])
        assert keys.multi_get([f"a{rank}", f"b{rank}"]) == [b"1", b"\x00\xff"]
        keys.append(f"a{rank}", "2")
        assert keys.get(f"a{rank}") == b"12"
        assert f"a{rank}" in keys.list_keys()
        assert keys.num_keys() == len(keys.list_keys()) or size > 1
        with pytest.raises(dist.QueueEmptyError):
            keys.queue_pop(f"q{rank}", block=False)
        keys.queue_push(f"q{rank}", "x")
        assert keys.queue_len(f"q{rank}") == 1
        assert keys.queue_pop(f"q{rank}") == b"x"
        assert keys.delete_key(f"a{rank}") and not keys.delete_key(f"a{rank}")
        keys.set("large", bytes(3_000_000)) if rank == 0 else None
        return len(keys.get("large"))

    assert ranks(store, 2) == [3_000_000] * 2


def test_a_checkpoint_outlives_the_attempt_of_a_stage(spark):
    def steps(_rows):
        dist.init_process_group(timeout=60)
        state = np.zeros(3)
        step = np.zeros(1, np.int64)
        again = dist.restore("state", [state, step])
        while step[0] < 4:
            dist.all_reduce(state)
            state += 1
            step += 1
            dist.checkpoint("state", [state, step])
            if step[0] == 2 and not again and dist.get_rank() == 1:
                raise RuntimeError("fails once")
        yield dist.get_rank(), (again, state.tolist())

    context = spark.sparkContext
    rows = context.parallelize(range(2), 2).barrier().mapPartitions(steps).repartition(2).collect()
    # 0, 1, 3, 7, 15: the second attempt continues where the first one stopped.
    assert dict(rows) == {rank: (True, [15.0] * 3) for rank in range(2)}


def test_a_checkpoint_may_be_larger_than_a_segment(ranks):
    def keep(rank, size):
        from spark_collectives import _memory

        most, _memory.MAX_BYTES = _memory.MAX_BYTES, (1 << 17) - 65
        try:
            rng = np.random.default_rng(rank)
            kept = [rng.random(n) for n in (10_000, 12_000, 100_000, 3)]
            dist.checkpoint("large", kept)
            found = [np.zeros(each.size) for each in kept]
            assert dist.restore("large", found)
        finally:
            _memory.MAX_BYTES = most
        return all(np.array_equal(a, b) for a, b in zip(found, kept))

    assert ranks(keep, 2) == [True, True]


def test_the_store_has_a_timeout_of_its_own_and_a_barrier(ranks):
    def store(rank, size):
        keys = dist.store()
        assert keys.timeout == datetime.timedelta(seconds=60)
        assert keys.has_extended_api()
        hasty = keys.clone()
        hasty.set_timeout(0.1)
        assert hasty.timeout == hasty.clone().timeout == datetime.timedelta(seconds=0.1)
        assert keys.timeout == datetime.timedelta(seconds=60)
        with pytest.raises(dist.StoreTimeoutError, match="nothing"):
            hasty.get("nothing")
        with pytest.raises(dist.StoreTimeoutError, match=r"1 of 3"):
            hasty.barrier(f"lonely {rank}", 3)
        for _ in range(3):
            keys.add("arrived", 1)
            keys.barrier("all", size)
        return int(keys.get("arrived"))

    assert ranks(store, 2) == [6, 6]

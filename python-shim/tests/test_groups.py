"""Groups, messages, objects, the store and checkpoints."""

import datetime
import os
import threading

import numpy as np
import pytest

import spark_collectives as dist


def test_ranks_are_partitions(ranks):
    def who(rank, size):
        assert dist.is_initialized()
        assert dist.get_process_group_ranks() == list(range(size))
        return rank, size, dist.world().name.split("/")[-1]

    assert ranks(who, 4) == [(rank, 4, "world") for rank in range(4)]


def test_a_group_of_some_ranks_has_ranks_of_its_own(ranks):
    def odd(rank, size):
        group = dist.new_group([3, 1], timeout=datetime.timedelta(seconds=30))
        if rank % 2 == 0:
            assert group is dist.NON_GROUP_MEMBER
            assert dist.get_rank(group) == dist.get_world_size(group) == -1
            with pytest.warns(UserWarning, match="not in the group"):
                assert dist.all_reduce(np.ones(1), group=group) is None
            return None
        array = np.full(3, rank)
        dist.broadcast(array, src=3, group=group)
        assert (array == 3).all()
        total = np.full(3, rank)
        dist.all_reduce(total, group=group)
        with pytest.raises(ValueError, match="Global rank 0 is not in"):
            dist.broadcast(array, src=0, group=group)
        dist.destroy_process_group(group)
        with pytest.raises(dist.GroupClosedError):
            dist.barrier(group)
        return dist.get_rank(group), dist.get_global_rank(group, 0), int(total[0]), group.timeout

    assert ranks(odd, 4) == [None, (1, 3, 4, 30.0), None, (0, 3, 4, 30.0)]


def test_a_group_splits_by_colour(ranks):
    def split(rank, size):
        half = dist.world().split(rank % 2, key=-rank)
        array = np.full(1, rank)
        half.all_reduce(array)
        return half.rank, half.size, int(array[0])

    assert ranks(split, 4) == [(1, 2, 2), (1, 2, 4), (0, 2, 2), (0, 2, 4)]


def test_a_receive_without_a_source_takes_from_any_rank(ranks):
    def gather(rank, size):
        array = np.full(5, rank)
        if rank:
            dist.send(array, 0)
            return None
        found = []
        for _ in range(size - 1):
            source = dist.recv(array)
            assert (array == source).all()
            found.append(source)
        return sorted(found)

    assert ranks(gather, 4)[0] == [1, 2, 3]


def test_works_of_several_threads_proceed(ranks):
    def threads(rank, size):
        groups = [dist.new_group() for _ in range(3)]
        sums = [None] * 3

        def work(i):
            array = np.full(1000, rank + i, np.float64)
            for _ in range(20):
                groups[i].all_reduce(array, dist.ReduceOp.MAX)
            sums[i] = array[0]

        started = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        return sums

    assert ranks(threads, 2) == [[1.0, 2.0, 3.0]] * 2


def test_a_work_goes_on_after_a_wait_times_out(ranks):
    def wait(rank, size):
        array = np.full(4, float(rank))
        if rank == 0:
            work = dist.irecv(array, 1)
            assert work.wait(0.05) is False
            assert not work.is_completed()
            dist.barrier()
            assert work.wait() is True
            assert work.source_rank() == 1
        else:
            dist.barrier()
            dist.send(array, 0)
        return array[0]

    assert ranks(wait, 2) == [1.0, 1.0]


def test_the_memory_of_abandoned_works_is_reused(ranks):
    def forget(rank, size):
        group = dist.world()
        for _ in range(50):
            dist.all_reduce(np.ones(100_000, np.float32), async_op=True)
            dist.barrier()
        # Each work is done before the next one begins: they need one segment, or two if the end of
        # one is noticed late.
        operations = group._operations
        return sum(map(len, operations.memory._free.values())) + len(operations.abandoned)

    assert all(count <= 4 for count in ranks(forget, 2))


def test_arrays_of_the_group_share_its_memory_until_they_are_collected(ranks):
    def memory(rank, size):
        group = dist.world()
        first = group.zeros((1000, 100), np.float64)
        address = first.__array_interface__["data"][0]
        view = first[10:20]
        del first
        second = group.empty(100_000, np.float64)
        assert second.__array_interface__["data"][0] != address
        view[:] = 1
        dist.all_reduce(view)
        assert (view == size).all()
        del view
        third = group.empty(100_000, np.float64)
        return third.__array_interface__["data"][0] == address

    assert ranks(memory, 2) == [True, True]


def test_wrong_arguments_are_refused_and_the_group_goes_on(ranks):
    def refuse(rank, size):
        frozen = np.ones(3)
        frozen.setflags(write=False)
        for error, call in (
            (TypeError, lambda: dist.all_reduce([1, 2, 3])),
            (TypeError, lambda: dist.all_reduce(np.array(["a"]))),
            (TypeError, lambda: dist.all_reduce(np.ones(3, ">f4"))),
            (TypeError, lambda: dist.all_reduce(np.ones(3, np.uint32), dist.ReduceOp.MAX)),
            (ValueError, lambda: dist.all_reduce(np.ones(3, np.int32), dist.ReduceOp.AVG)),
            (ValueError, lambda: dist.all_reduce(frozen)),
            (ValueError, lambda: dist.broadcast(np.ones(3), src=size)),
            (ValueError, lambda: dist.broadcast(np.ones(3))),
            (ValueError, lambda: dist.all_gather_into_tensor(np.ones(3), np.ones(5))),
            (ValueError, lambda: dist.all_to_all_single(np.ones(4), np.ones(4), [1, 2], [2, 2])),
            (ValueError, lambda: dist.send(np.ones(3), (rank + 1) % size, tag=-1)),
            (ValueError, lambda: dist.world().all_reduce(np.ones(3), timeout=-1)),
            (ValueError, lambda: dist.batch_isend_irecv([])),
        ):
            with pytest.raises(error):
                call()
        array = np.ones(3)
        dist.all_reduce(array)
        return array[0]

    assert ranks(refuse, 2) == [2.0, 2.0]


def test_premul_sum_multiplies_first(ranks):
    def premul(rank, size):
        array = np.full(3, 2.0)
        dist.all_reduce(array, dist.ReduceOp.premul_sum(10.0**rank))
        return array[0]

    assert ranks(premul, 2) == [22.0, 22.0]


def test_object_collectives_return_the_objects_of_the_ranks(ranks):
    def objects(rank, size):
        everything = [None] * size
        dist.all_gather_object(everything, {"rank": rank, "f": lambda: rank * 10})
        assert [each["f"]() for each in everything] == [10 * r for r in range(size)]
        gathered = [None] * size if rank == 1 else None
        dist.gather_object("x" * rank, gathered, dst=1)
        shared = [None, None] if rank else [("a", 1), None]
        dist.broadcast_object_list(shared, src=0)
        mine = [None]
        dist.scatter_object_list(mine, [{r} for r in range(size)] if rank == 2 else None, src=2)
        if rank == 0:
            dist.send_object_list(["hello", 5], 3)
        received = [None, None]
        if rank == 3:
            assert dist.recv_object_list(received) == 0
        return gathered, shared, mine[0], received

    shared = [("a", 1), None]
    assert ranks(objects, 4) == [
        (None, shared, {0}, [None, None]),
        (["", "x", "xx", "xxx"], shared, {1}, [None, None]),
        (None, shared, {2}, [None, None]),
        (None, shared, {3}, ["hello", 5]),
    ]


def test_large_objects_are_sent_in_pieces(ranks):
    def objects(rank, size):
        from spark_collectives import objects as module

        whole, module.PIECE_BYTES = module.PIECE_BYTES, 1000
        try:
            large = [os.urandom(n) for n in (10, 5000, 1001, 12_345)]
            shared = large if rank == 0 else [None] * 4
            dist.broadcast_object_list(shared, src=0)
            everything = [None] * size
            dist.all_gather_object(everything, shared[rank])
            gathered = [None] * size if rank == 1 else None
            dist.gather_object(shared[rank], gathered, dst=1)
            mine = [None]
            dist.scatter_object_list(mine, shared if rank == 2 else None, src=2)
            if rank == 0:
                dist.send_object_list(shared, 3)
            received = [None] * 4
            if rank == 3:
                assert dist.recv_object_list(received) == 0
        finally:
            module.PIECE_BYTES = whole
        assert everything == shared and mine == [shared[rank]]
        assert gathered == (shared if rank == 1 else None)
        assert received == (shared if rank == 3 else [None] * 4)
        return shared

    shared = ranks(objects, 4)
    assert [len(each) for each in shared[0]] == [10, 5000, 1001, 12_345]
    assert shared == [shared[0]] * 4


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


def test_a_monitored_barrier_names_the_missing_ranks_and_the_group_goes_on(ranks):
    def barrier(rank, size):
        dist.monitored_barrier(timeout=30)
        text = ""
        if rank != 1:
            with pytest.raises(dist.CollectiveTimeoutError) as error:
                dist.monitored_barrier(timeout=1, wait_all_ranks=True)
            text = error.value.missing_ranks
        dist.barrier()
        return text

    assert ranks(barrier, 2) == [(1,), ""]


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


def test_a_reused_python_process_has_a_new_group(ranks):
    def name(rank, size):
        return os.getpid(), dist.world().name

    # An executor may have several idle processes, and use another one the next time.
    runs = [ranks(name, 2) for _ in range(4)]
    processes = [pid for run in runs for pid, _ in run]
    assert len(set(processes)) < len(processes), "no process was reused"
    assert len({name for run in runs for _, name in run}) == len(runs)


def test_a_destroyed_group_refuses_operations(ranks):
    def destroy(rank, size):
        group = dist.world()
        dist.destroy_process_group()
        assert not dist.is_initialized()
        with pytest.raises(RuntimeError, match="init_process_group"):
            dist.barrier()
        with pytest.raises(dist.CollectiveError):
            group.barrier()
        with pytest.raises(dist.GroupClosedError, match="joins its world group once"):
            dist.init_process_group()
        dist.destroy_process_group()
        return True

    assert ranks(destroy, 2) == [True, True]


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


def test_tensors_of_torch_are_reduced_in_place(ranks):
    pytest.importorskip("torch")

    def tensors(rank, size):
        import torch

        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64):
            tensor = torch.full((4, 5), rank + 1, dtype=dtype)
            dist.all_reduce(tensor.t())
            assert (tensor == size * (size + 1) / 2).all(), (dtype, tensor)
        parameter = torch.nn.Parameter(torch.full((3,), float(rank)))
        dist.broadcast(parameter, src=1)
        shared = torch.from_numpy(dist.world().zeros(1000))
        shared += rank
        dist.all_reduce(shared)
        with pytest.raises(TypeError, match="layout"):
            dist.all_reduce(torch.eye(3).to_sparse())
        return parameter.tolist(), shared[0].item()

    assert ranks(tensors, 2) == [([1.0] * 3, 1.0)] * 2


def test_an_object_that_one_rank_cannot_pickle_fails_all_ranks_with_that_reason(ranks):
    def gather(rank, size):
        group = dist.new_group()
        mine = threading.Lock() if rank == 1 else rank
        expected = TypeError if rank == 1 else dist.PeerFailedError
        with pytest.raises(expected) as raised:
            dist.all_gather_object([None] * size, mine, group)
        dist.barrier()
        return getattr(raised.value, "rank", None), str(raised.value)

    found = ranks(gather, 3)
    assert [failed for failed, _ in found] == [1, None, 1]
    assert "rank 1 cannot pickle its object: TypeError: cannot pickle" in found[0][1]

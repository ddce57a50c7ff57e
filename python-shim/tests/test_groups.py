"""Groups, and the works and arrays of their operations."""

import datetime
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
        group = dist.new_group([3, 1], timeout=datetime.timedelta(seconds=30), sort_ranks=False)
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


def test_a_barrier_does_not_wait_for_a_receive_that_another_thread_waits_for(ranks):
    def receive(rank, size):
        array, total = np.zeros(4), np.ones(4)
        future = dist.irecv(array, 1).get_future() if rank == 0 else None
        dist.barrier()
        dist.all_reduce(total)
        if future is None:
            dist.send(np.full(4, 7.0), 0)
            return total[0]
        return future.wait(60)[0][0]

    assert ranks(receive, 2) == [7.0, 2.0]


SIZES = [10, 100_000, 3_000_000]


def test_a_dropped_work_has_its_result_when_a_later_collective_has_ended(ranks):
    def forget(rank, size):
        seen = []
        for count in SIZES:
            for end in (
                dist.barrier,
                lambda: dist.all_reduce(np.ones(3)),
                lambda: dist.all_reduce(np.ones(200_000)),
                lambda: dist.all_reduce(np.ones(3), async_op=True).wait(),
            ):
                array = np.ones(count, np.float32)
                dist.all_reduce(array, async_op=True)
                end()
                seen.append(bool((array == size).all()))
        return seen

    for results in ranks(forget, 2):
        assert results == [True] * 4 * len(SIZES)


def test_a_result_is_there_after_a_barrier_though_another_thread_waits_for_it(ranks):
    def forget(rank, size):
        seen = []
        for barrier in (
            dist.barrier,
            lambda: dist.barrier(async_op=True).wait(),
            dist.monitored_barrier,
            lambda: dist.all_reduce(np.ones(3)),
        ):
            # So large that its copy takes a while, and one for itself, in parts.
            for count in (1_900_000, 16_000_000):
                array = np.ones(count, np.float32)
                future = dist.all_reduce(array, async_op=True).get_future()
                barrier()
                seen.append(bool((array == size).all()))
                future.wait()
        return seen

    assert ranks(forget, 2) == [[True] * 8] * 2


def test_callbacks_of_futures_may_wait_for_later_operations(ranks):
    def chain(rank, size):
        def again(done):
            array = done.value()[0]
            dist.all_reduce(array, async_op=True).get_future().wait(60)
            return array[0]

        first = dist.all_reduce(np.ones(100_000), async_op=True).get_future()
        return first.then(again).then(lambda done: done.value() + 1).wait(60)

    assert ranks(chain, 2) == [5.0, 5.0]


def test_works_that_are_held_have_their_results_then_too(ranks):
    def hold(rank, size):
        arrays = [np.ones(1000) for _ in range(5)]
        works = [dist.all_reduce(each, async_op=True) for each in arrays]
        works[3].wait()
        done = [bool((each == size).all()) for each in arrays[:4]]
        return done, [each.is_success() for each in works[:4]], works[4].wait()

    assert ranks(hold, 2) == [([True] * 4, [True] * 4, True)] * 2


@pytest.mark.parametrize("async_op", [False, True])
def test_a_dropped_message_is_in_its_array_after_a_barrier(ranks, async_op):
    def forget(rank, size):
        array = np.zeros(1000)
        if rank == 0:
            dist.irecv(array, 1)
        else:
            dist.send(np.ones(1000), 0)
        # A barrier does not wait for messages, so this one may be on its way for some of them.
        for _ in range(1000):
            work = dist.barrier(async_op=async_op)
            if work is not None:
                work.wait()
            arrived = np.array([rank == 1 or array[0] == 1], np.uint8)
            dist.all_reduce(arrived, dist.ReduceOp.MIN)
            if arrived[0]:
                return True
        return False

    assert ranks(forget, 2) == [True, True]


def test_the_memory_of_dropped_works_is_reused(ranks):
    def forget(rank, size):
        group = dist.world()
        for _ in range(50):
            dist.all_reduce(np.ones(100_000, np.float32), async_op=True)
            dist.barrier()
        # Each work is done before the next one begins: they need one segment, or two if the end of
        # one is noticed late.
        operations = group._operations
        return sum(map(len, operations.memory._free.values())) + len(operations.pending)

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


def test_progress_that_makes_no_sense_is_refused_and_the_group_goes_on(ranks):
    def say(rank, size):
        world = dist.world()
        world.progress(np.int64(3), 10)
        for error, *wrong in (
            (ValueError, 3, 0),
            (ValueError, -1, 10),
            (ValueError, 11, 10),
            (TypeError, 0.5, 1),
        ):
            with pytest.raises(error):
                world.progress(*wrong)
        world.progress(10, 10, "x" * 1000)
        dist.barrier()
        dist.destroy_process_group()
        with pytest.raises(dist.CollectiveError):
            world.progress(10, 10)
        return True

    assert ranks(say, 2) == [True, True]


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


def test_a_timeout_holds_from_when_it_is_set(ranks):
    def late(rank, size):
        group = dist.new_group()
        dist.barrier(group)
        dist.set_timeout(datetime.timedelta(seconds=0.2), group)
        assert group.timeout == 0.2
        if rank == 1:
            dist.store().get("over")
            return None
        with pytest.raises(dist.CollectiveTimeoutError) as error:
            dist.barrier(group)
        dist.store().set("over", "")
        return error.value.missing_ranks

    assert ranks(late, 2) == [(1,), None]


def test_a_barrier_has_a_timeout_of_its_own(ranks):
    def late(rank, size):
        group = dist.new_group()
        dist.barrier(group, timeout=30)
        with pytest.raises(ValueError, match="device_ids"):
            dist.barrier(group, device_ids=[0])
        if rank == 0:
            with pytest.raises(dist.CollectiveTimeoutError) as error:
                dist.barrier(group, timeout=0.2)
            dist.store().set("over", "")
            return error.value.missing_ranks
        dist.store().get("over")
        return None

    assert ranks(late, 2) == [(1,), None]


def test_ranks_know_which_of_them_are_on_their_host(ranks):
    def where(rank, size):
        group = dist.world()
        local = group.new_local_group()
        assert (local.rank, local.size) == (group.local_rank, group.local_size)
        assert dist.get_node_local_rank() == dist.get_node_local_rank(7) == local.rank
        return local.rank, local.size, len(group.hosts)

    # The executors of the test's cluster are on one host.
    assert ranks(where, 3) == [(0, 3, 3), (1, 3, 3), (2, 3, 3)]
    assert dist.get_node_local_rank(7) == 7

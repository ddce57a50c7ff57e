"""Groups made from others, with the functions of torch.distributed."""

import threading

import numpy as np
import pytest

import spark_collectives as dist


def total(group, rank):
    array = np.full(2, 10**rank)
    dist.all_reduce(array, group=group)
    return int(array[0])


def test_a_new_group_has_its_ranks_in_order_unless_told_otherwise(ranks):
    def groups(rank, size):
        in_order = dist.new_group([2, 0, 1], group_desc="in order")
        as_given = dist.new_group([2, 0, 1], sort_ranks=False)
        outside = dist.new_group([2, 1], None, "gloo", None, True)
        assert (outside is dist.NON_GROUP_MEMBER) == (rank == 0)
        for wrong in ([0, 0], [size], []):
            with pytest.raises(ValueError):
                dist.new_group(wrong)
        with pytest.raises(ValueError, match="pg_options"):
            dist.new_group(pg_options=object())
        return dist.get_process_group_ranks(in_order), dist.get_process_group_ranks(as_given)

    assert ranks(groups, 3) == [([0, 1, 2], [2, 0, 1])] * 3


def test_a_rank_outside_of_a_group_is_told_so_where_it_asks_of_the_group(ranks):
    def ask(rank, size):
        group = dist.new_group([1])
        if rank == 1:
            return dist.get_process_group_ranks(group)
        assert group is dist.NON_GROUP_MEMBER
        for call in (
            lambda: dist.get_backend(group),
            lambda: dist.get_backend_config(group),
            lambda: dist.get_process_group_ranks(group),
            lambda: dist.get_group_rank(group, 1),
            lambda: dist.get_global_rank(group, 0),
            lambda: dist.set_timeout(20, group),
            lambda: dist.shrink_group([0], group),
            lambda: dist.split_group(group, [[0]]),
            lambda: dist.new_subgroups(1, group),
            lambda: dist.store(group),
        ):
            with pytest.raises(ValueError, match="This rank is not in the group"):
                call()
        return None

    assert ranks(ask, 2) == [None, [1]]


def test_neighbouring_ranks_form_subgroups(ranks):
    def groups(rank, size):
        own, every = dist.new_subgroups(2)
        assert [each is own for each in every] == [rank < 2, rank >= 2]
        whole, _ = dist.new_subgroups()
        for wrong in (3, 0, 8):
            with pytest.raises(ValueError, match="multiple of group_size"):
                dist.new_subgroups(wrong)
        return total(own, rank), whole.size

    # All four ranks are on one host.
    assert ranks(groups, 4) == [(11, 4), (11, 4), (1100, 4), (1100, 4)]


def test_subgroups_are_made_by_enumeration(ranks):
    def groups(rank, size):
        own, every = dist.new_subgroups_by_enumeration([[0, 2], [1]])
        assert len(every) == 2
        with pytest.raises(ValueError, match="Rank 0 is named twice"):
            dist.new_subgroups_by_enumeration([[0, 2], [1, 0]])
        with pytest.raises(ValueError, match="empty"):
            dist.new_subgroups_by_enumeration([])
        return None if own is None else total(own, rank)

    assert ranks(groups, 4) == [101, 10, 101, None]


def test_a_group_is_split_into_parts(ranks):
    def split(rank, size):
        # Ranks 1, 2 and 3 of the world are 0, 1 and 2 of this group.
        parent = dist.new_group([1, 2, 3])
        if rank == 0:
            return None
        part = dist.split_group(parent, [[2, 0]], timeout=50, group_desc="outer")
        for wrong in ([[0, 3]], [[0], [0]], [], None):
            with pytest.raises(ValueError):
                dist.split_group(parent, wrong)
        if rank == 2:
            return part is dist.NON_GROUP_MEMBER
        return part.rank, part.timeout, total(part, rank)

    assert ranks(split, 4) == [None, (1, 50.0, 1010), True, (0, 50.0, 1010)]


def test_the_world_shrinks_to_the_ranks_that_remain_after_a_failure(ranks):
    def shrink(rank, size):
        everyone = dist.new_group()
        try:
            with pytest.raises(dist.CollectiveError):
                if rank == 1:
                    dist.abort_process_group("rank 1 gives up")
                    dist.barrier()
                else:
                    dist.barrier()
            for error, *wrong in (
                (ValueError, []),
                (ValueError, [size + 4]),
                (ValueError, [(rank + 1) % size] * 2),
                (ValueError, [1], None, 7),
                (RuntimeError, [rank]),
            ):
                with pytest.raises(error):
                    dist.shrink_group(*wrong)
            if rank == 1:
                return None
            old = dist.world()
            made = dist.shrink_group([1])
            assert dist.world() is dist.group.WORLD is made is not old
            assert dist.get_process_group_ranks() == [0, 1, 2]
            array = np.full(3, rank)
            dist.broadcast(array, src=2)
            pair = dist.new_group([2, 1])
            assert dist.get_rank() == 0 or dist.get_process_group_ranks(pair) == [1, 2]
            again = dist.shrink_group([0], pair) if dist.get_rank() == 2 else None
            assert again is None or (again.size, again.global_ranks) == (1, (2,))
            return dist.get_rank(), dist.get_world_size(), int(array[0])
        finally:
            dist.destroy_process_group()
            with pytest.raises(dist.CollectiveError):
                everyone.barrier()

    assert ranks(shrink, 4) == [(0, 3, 3), None, (1, 3, 3), (2, 3, 3)]


def test_shrinking_with_an_abort_ends_what_waits_for_an_excluded_rank(ranks):
    def shrink(rank, size):
        group = dist.new_group()
        pair = dist.new_group([0, 1])
        if rank == 2:
            dist.store().get("shrunk")
            return None
        work = dist.barrier(group, async_op=True)
        dist.barrier(pair)
        made = dist.shrink_group([2], group, dist.SHRINK_ABORT)
        with pytest.raises(dist.CollectiveError):
            work.wait()
        assert dist.world() is not made
        found = total(made, rank)
        dist.store().set("shrunk", "")
        return found

    assert ranks(shrink, 3) == [11, 11, None]


def test_a_block_of_operations_is_awaited_as_one(ranks):
    def send(group):
        work = dist.isend(np.full(2, 7.0), 1, group)
        assert work not in group._operations.coalescing.works

    def block(rank, size):
        group = dist.new_group()
        arrays = [np.full(n, rank + 1.0) for n in (3, 1000, 2_000_000)]
        gathered = np.empty(size)
        with dist.coalescing_manager(group):
            for array in arrays:
                assert dist.all_reduce(array, group=group) is None
            dist.all_gather_into_tensor(gathered, np.array([float(rank)]), group=group)
            with pytest.raises(RuntimeError, match="has not ended"):
                dist.coalescing_manager(group).__enter__()
            # Other groups, and other threads, do not take part.
            assert total(None, rank) == 11
            if rank == 0:
                thread = threading.Thread(target=send, args=(group,))
                thread.start()
                thread.join()
        if rank == 1:
            received = np.zeros(2)
            dist.recv(received, 0, group)
            assert received.tolist() == [7, 7]
        assert all((array == 3).all() for array in arrays)
        assert gathered.tolist() == [0.0, 1.0]
        with dist.coalescing_manager(group, async_ops=True) as works:
            dist.broadcast(arrays[0], src=0, group=group)
            work = dist.all_reduce(arrays[1], group=group, async_op=True)
        assert len(works.works) == 2 and works.works[1] is work
        works.wait()
        assert work.is_success()
        dist.all_reduce(arrays[2], group=group)
        return arrays[1][0], arrays[2][-1]

    assert ranks(block, 2) == [(6.0, 6.0)] * 2


def test_a_block_that_fails_leaves_the_group_as_it_was(ranks):
    def block(rank, size):
        with pytest.raises(TypeError), dist.coalescing_manager():
            dist.all_reduce([1, 2])
        array = np.ones(3)
        dist.all_reduce(array)
        assert array[0] == 2
        group = dist.new_group()
        with pytest.raises(dist.CollectiveError), dist.coalescing_manager(group):
            dist.all_reduce(array, group=group)
            dist.all_reduce(np.ones(3 + rank), group=group)
        return True

    assert ranks(block, 2) == [True, True]

"""Collectives of Python objects."""

import os
import threading

import pytest

import spark_collectives as dist


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

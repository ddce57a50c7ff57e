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


def test_an_object_that_one_rank_cannot_pickle_is_told_to_all_and_the_group_goes_on(ranks):
    def objects(rank, size):
        bad = threading.Lock()
        mine = bad if rank == 1 else rank
        calls = (
            lambda: dist.all_gather_object([None] * size, mine),
            lambda: dist.gather_object(mine, [None] * size if rank == 2 else None, dst=2),
            lambda: dist.broadcast_object_list([1, mine], src=1),
            lambda: dist.scatter_object_list([None], [bad] * size if rank == 1 else None, src=1),
        )
        texts = []
        for call in calls:
            expected = TypeError if rank == 1 else dist.ObjectSerializationError
            with pytest.raises(expected) as raised:
                call()
            texts.append((getattr(raised.value, "rank", None), str(raised.value)))
        if rank == 1:
            with pytest.raises(TypeError, match="cannot pickle"):
                dist.send_object_list([bad], dst=0)
        if rank == 0:
            with pytest.raises(dist.ObjectSerializationError, match="Rank 1 cannot pickle"):
                dist.recv_object_list([None], src=1)
        everything = [None] * size
        dist.all_gather_object(everything, rank)
        assert everything == list(range(size))
        return texts

    found = ranks(objects, 3)
    for rank, texts in enumerate(found):
        for failed, text in texts:
            assert failed == (None if rank == 1 else 1)
            assert "cannot pickle" in text
            assert rank == 1 or "Rank 1 cannot pickle its object: TypeError: cannot" in text


def test_objects_in_a_block_are_refused_and_the_group_goes_on(ranks):
    def block(rank, size):
        calls = [
            lambda: dist.all_gather_object([None] * size, rank),
            lambda: dist.gather_object(rank, [None] * size),
            lambda: dist.broadcast_object_list([rank]),
            lambda: dist.scatter_object_list([None], [1] * size),
            lambda: dist.send_object_list([rank], 1 - rank),
            lambda: dist.recv_object_list([None], 1 - rank),
        ]
        refused = []
        with dist.coalescing_manager():
            for call in calls:
                try:
                    call()
                except RuntimeError as e:
                    refused.append("in a block" in str(e))
        found = [None] * size
        dist.all_gather_object(found, rank)
        return refused, found

    assert ranks(block, 2) == [([True] * 6, [0, 1])] * 2


def test_an_error_whose_text_cannot_be_encoded_is_told_to_all(ranks):
    class Unpicklable:
        def __reduce__(self):
            raise ValueError("no \udcff")

    def gather(rank, size):
        try:
            dist.all_gather_object([None] * size, Unpicklable() if rank == 0 else 1)
        except ValueError as e:
            return "no" in str(e)
        except dist.ObjectSerializationError as e:
            return e.rank
        return None

    assert ranks(gather, 2) == [True, 0]

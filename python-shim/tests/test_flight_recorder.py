"""The flight recorder of a rank, and the stacks of its threads."""

import threading

import numpy as np
import pytest

import spark_collectives as dist


def test_the_flight_recorder_has_the_operations_of_its_group(ranks):
    def recorded(rank, size):
        group = dist.new_group(group_desc="recorded")
        dist.all_reduce(np.ones((3, 4), np.float32), group=group)
        dist.barrier()
        work = dist.irecv(np.empty(5), 1 - rank, group)
        recorder = group.flight_recorder()
        records = recorder.records()
        assert [each["process_group"] for each in records] == [[group.name, "recorded"]] * 2
        assert len(recorder.dump()["entries"]) >= 3
        assert recorder.dump(include_collectives=False)["entries"] == []
        active = recorder.dump(only_active=True)["entries"]
        assert [each["operation"] for each in active] == ["RECV"]
        dist.barrier()
        dist.isend(np.ones(5), 1 - rank, group)
        work.wait()
        return records[0]

    first, second = ranks(recorded, 2)
    for record in (first, second):
        assert record["state"] == "completed"
        assert record["operation"] == "ALL_REDUCE"
        assert record["output_sizes"] == [[3, 4]]


def test_a_group_that_has_failed_still_tells_its_records(ranks):
    def recorded(rank, size):
        group = dist.new_group()
        dist.barrier(group)
        if rank == 0:
            group.abort("enough")
        with pytest.raises(dist.CollectiveError):
            group.barrier()
            group.barrier()
        group.flight_recorder().dump_all_ranks("to see whether it works")
        return len(group.flight_recorder().records()) >= 1

    assert ranks(recorded, 2) == [True, True]


def test_the_stacks_of_all_threads_have_their_names():
    begun, may_end = threading.Event(), threading.Event()

    def wait_here():
        begun.set()
        may_end.wait(60)

    thread = threading.Thread(target=wait_here, name="the one that waits")
    thread.start()
    begun.wait(60)
    text = dist.stacks()
    may_end.set()
    thread.join()
    assert 'Thread "the one that waits"' in text
    assert "in wait_here" in text
    assert "in test_the_stacks_of_all_threads_have_their_names" in text

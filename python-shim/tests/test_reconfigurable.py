"""Groups whose members change."""

import json
import os
import signal
import time

import numpy as np
import pytest

import probe
import spark_collectives as dist

#: The most seconds until a failure ends what other ranks wait in, on a busy machine.
SOON = 30.0


def exchanged(group, name, ranks):
    """Return the handles of ranks of the world; each of them calls this."""
    store = dist.store()
    store.set(f"{name}/{dist.get_rank()}", group.handle)
    return [store.get(f"{name}/{rank}").decode() for rank in ranks]


def all_reduced(group):
    array = np.full(1000, group.rank + 1.0)
    group.all_reduce(array)
    assert (array == array[0]).all()
    return int(array[0])


def test_a_group_grows_and_shrinks_and_its_rank_and_size_follow(ranks):
    def change(rank, size):
        group = dist.reconfigurable()
        seen = [(group.rank, group.size)]
        # Each is alone at first.
        group.reconfigure(10 + rank, [group.handle])
        seen.append((group.rank, group.size, all_reduced(group)))
        handles = exchanged(group, "alone", range(size))
        group.reconfigure(1, handles)
        seen.append((group.rank, group.size, all_reduced(group)))
        handles = exchanged(group, "together", range(size))
        if rank != 1:
            # In another order, and without rank 1.
            group.reconfigure(2, [handles[3], handles[2], handles[0]])
            seen.append((group.rank, group.size, all_reduced(group)))
            assert group.global_ranks == (0, 1, 2) and len(group.hosts) == 3
        handles = exchanged(group, "some", range(size))
        group.reconfigure(3, handles)
        seen.append((group.rank, group.size, all_reduced(group)))
        return seen

    for rank, seen in enumerate(ranks(change, 4)):
        assert seen[:3] == [(rank, 4), (0, 1, 1), (rank, 4, 10)]
        assert seen[3:-1] == [] if rank == 1 else [({3: 0, 2: 1, 0: 2}[rank], 3, 6)]
        assert seen[-1] == (rank, 4, 10)


def test_members_in_no_order_keep_that_of_their_partitions(ranks):
    def change(rank, size):
        group = dist.reconfigurable()
        group.reconfigure(1, exchanged(group, "first", range(size))[::-1])
        assert group.rank == size - 1 - rank
        group.reconfigure(2, set(exchanged(group, "second", range(size))))
        return group.rank, all_reduced(group)

    assert ranks(change, 3) == [(0, 6), (1, 6), (2, 6)]


def test_a_rank_that_does_not_come_is_named_and_the_others_go_on_without_it(ranks):
    def change(rank, size):
        group = dist.reconfigurable()
        handles = exchanged(group, "first", range(size))
        named, total = "", 0
        if rank != 2:
            with pytest.raises(dist.CollectiveError) as raised:
                group.reconfigure(1, handles, timeout=2)
            named = str(raised.value)
            assert group.handle == handles[rank]
            group.reconfigure(2, handles[:2])
            total = all_reduced(group)
        dist.barrier()
        return named, total

    outcomes = ranks(change, 3)
    for named, total in outcomes[:2]:
        assert "2]" in named or "rank 2" in named
        assert total == 3


def test_members_that_disagree_are_all_refused_and_can_agree(ranks):
    def change(rank, size):
        group = dist.reconfigurable()
        handles = exchanged(group, "first", range(size))
        with pytest.raises((ValueError, dist.CollectiveError)) as raised:
            group.reconfigure(1, handles if rank else handles[::-1])
        assert (group.rank, group.size, group.handle) == (rank, size, handles[rank])
        group.reconfigure(2, handles)
        return str(raised.value), all_reduced(group)

    outcomes = ranks(change, 3)
    assert any("handles differ between members" in said for said, _ in outcomes)
    assert [total for _, total in outcomes] == [6, 6, 6]


def test_what_makes_no_group_is_refused_before_anybody_waits(ranks):
    def refused(rank, size):
        group = dist.reconfigurable()
        handles = exchanged(group, "first", range(size))
        with pytest.raises(dist.GroupClosedError, match="call reconfigure"):
            group.barrier()
        for wrong, text in (
            ([], "at least one handle"),
            (handles * 2, "must be unique"),
            (["mine"], "Invalid Spark reconfigure handle: mine"),
            ([handles[1 - rank]], "not part of the new communicator"),
        ):
            with pytest.raises(ValueError, match=text):
                group.reconfigure(1, wrong)
        for wrong in (handles[0], [handles[0], 7]):
            with pytest.raises(TypeError, match="list or a set of texts"):
                group.reconfigure(1, wrong)
        with pytest.raises(TypeError):
            group.reconfigure(1.5, handles)
        with pytest.raises(ValueError, match="64 bits"):
            group.reconfigure(1 << 63, handles)
        group.reconfigure(-1, handles)
        assert all_reduced(group) == 3
        handles = exchanged(group, "second", range(size))
        # The new rank 0 finds that the number was used; the other one hears of it, or finds it.
        with pytest.raises((ValueError, dist.CollectiveError)) as raised:
            group.reconfigure(-1, handles)
        if rank == 0:
            assert "already used" in str(raised.value)
        return all_reduced(group)

    assert ranks(refused, 2) == [3, 3]


def test_what_a_group_has_ends_with_its_members_and_its_timeout_stays(ranks):
    def change(rank, size):
        group = dist.reconfigurable(timeout=50)
        group.reconfigure(1, exchanged(group, "first", range(size)))
        group.set_timeout(40)
        kept = group.empty(1000, np.float64)
        kept.fill(rank + 1)
        group.all_reduce(kept)
        works = [group.all_reduce(np.ones(100_000), async_op=True) for _ in range(20)]
        pairs = group.new_group([0, 1])
        assert (pairs is None) == (rank == 2)
        for each in works:
            each.wait()
        late = np.ones(10)
        ended = group.all_reduce(late, async_op=True)
        group.barrier()
        handles = exchanged(group, "second", range(size))
        group.reconfigure(2, handles[::-1])
        assert group.timeout == 40
        assert (late == 3).all() and ended.wait()
        # Arrays outlive the members, and are copied from then on.
        group.all_reduce(kept)
        assert (kept == 18).all()
        records = group.flight_recorder().records()
        assert [each["operation"] for each in records] == ["ALL_REDUCE"]
        if pairs is not None:
            with pytest.raises(dist.CollectiveError):
                pairs.barrier()
        store = group.store()
        store.set(f"from {group.rank}", str(rank))
        partner = group.new_group([0, 1])
        if partner is not None:
            assert partner.global_ranks == (0, 1) and partner.rank == group.rank
            partner.barrier()
        return [store.get(f"from {each}").decode() for each in range(size)]

    assert ranks(change, 3) == [["2", "1", "0"]] * 3


def test_a_group_that_was_aborted_works_again(ranks):
    def change(rank, size):
        group = dist.reconfigurable()
        group.reconfigure(1, exchanged(group, "first", range(size)))
        all_reduced(group)
        if rank == 1:
            group.abort("starts anew")
        with pytest.raises(dist.CollectiveError, match="starts anew"):
            while True:
                group.barrier()
        group.reconfigure(2, exchanged(group, "second", range(size)))
        return all_reduced(group)

    assert ranks(change, 3) == [6, 6, 6]


def test_a_task_may_have_several_and_a_further_one_after_another(ranks):
    def change(rank, size):
        first, second = dist.reconfigurable(), dist.reconfigurable()
        assert first.name != second.name and first.handle != second.handle
        for group in (first, second):
            group.reconfigure(1, exchanged(group, group.name, range(size)))
        totals = [all_reduced(first), all_reduced(second)]
        first.close()
        with pytest.raises(dist.GroupClosedError):
            first.reconfigure(2, [first.handle])
        third = dist.reconfigurable()
        third.reconfigure(1, exchanged(third, "third", range(size)))
        return [*totals, all_reduced(second), all_reduced(third)]

    assert ranks(change, 2) == [[3, 3, 3, 3]] * 2


def test_many_changes_leave_nothing_behind(ranks, spark):
    def change(rank, size):
        group = dist.reconfigurable()
        for uuid in range(20):
            group.reconfigure(uuid, exchanged(group, str(uuid), range(size)))
            group.all_reduce(np.ones(100_000))
        return probe.left_behind()["files"]

    # Each group's memory goes before the next one's is there, or soon after.
    assert max(ranks(change, 2)) < 40

    def look(_rows):
        yield probe.left_behind()

    deadline = time.monotonic() + 60
    while True:
        found = spark.sparkContext.parallelize(range(8), 8).mapPartitions(look).collect()
        if all(each["threads"] + each["files"] + each["kept by workers"] == 0 for each in found):
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def await_stopped(pid):
    deadline = time.monotonic() + 60
    state = ""
    while state != "T":
        assert time.monotonic() < deadline, f"process {pid} is in the state {state}"
        with open(f"/proc/{pid}/stat") as stat:
            state = stat.read().rpartition(")")[2].split()[0]
        time.sleep(0.05)


def test_ranks_go_on_without_one_whose_process_is_stopped(ranks):
    def change(rank, size):
        group = dist.reconfigurable()
        processes = [None] * size
        dist.all_gather_object(processes, os.getpid())
        group.reconfigure(1, exchanged(group, "first", range(size)))
        all_reduced(group)
        if rank == 2:
            os.kill(os.getpid(), signal.SIGSTOP)
            with pytest.raises(dist.CollectiveError):
                while True:
                    group.barrier()
            return 0
        await_stopped(processes[2])
        with pytest.raises(dist.CollectiveError):
            group.barrier(timeout=2)
        group.reconfigure(2, exchanged(group, "second", (0, 1)))
        total = all_reduced(group)
        if rank == 0:
            os.kill(processes[2], signal.SIGCONT)
        return total

    assert ranks(change, 3) == [3, 3, 0]


def noticed_of(folder, rank, call):
    """Write to a file what a call has raised, and after how long; raise it again."""
    start = time.monotonic()
    try:
        call()
    except dist.CollectiveError as e:
        with open(f"{folder}/{rank}.part", "w") as file:
            json.dump([getattr(e, "rank", None), time.monotonic() - start], file)
        os.rename(f"{folder}/{rank}.part", f"{folder}/{rank}.json")
        raise


def noticed_by(folder, ranks):
    """Wait for the files of ranks, which may be written after the job has failed."""
    deadline = time.monotonic() + 60
    files = [folder / f"{rank}.json" for rank in ranks]
    while not all(file.exists() for file in files):
        assert time.monotonic() < deadline, list(folder.iterdir())
        time.sleep(0.1)
    return [json.loads(file.read_text()) for file in files]


def run_twice(spark, task):
    """Run a task whose rank 2 is killed, and then again; return the results."""
    rows = spark.sparkContext.parallelize(range(3), 3).barrier()
    with pytest.raises(Exception, match="exited unexpectedly"):
        rows.mapPartitions(lambda _: task(True)).collect()
    return rows.mapPartitions(lambda _: task(False)).collect()


def test_a_killed_rank_is_named_and_the_next_job_changes_members_again(spark, tmp_path):
    folder = str(tmp_path)

    def task(is_first):
        dist.init_process_group()
        group = dist.reconfigurable()
        rank = group.rank
        group.reconfigure(1, exchanged(group, "first", range(3)))
        total = all_reduced(group)
        if is_first:
            if rank == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            noticed_of(folder, rank, group.barrier)
        yield total

    assert run_twice(spark, task) == [6, 6, 6]
    for named, seconds in noticed_by(tmp_path, (0, 1)):
        assert named == 2
        assert seconds < SOON


def test_the_end_of_a_process_ends_the_change_that_others_wait_in(spark, tmp_path):
    folder = str(tmp_path)

    def task(is_first):
        dist.init_process_group()
        group = dist.reconfigurable()
        rank, handles = group.rank, exchanged(group, "first", range(3))
        if is_first:
            if rank == 2:
                dist.store().wait(["waits/0", "waits/1"])
                os.kill(os.getpid(), signal.SIGKILL)
            dist.store().set(f"waits/{rank}", "yes")
            noticed_of(folder, rank, lambda: group.reconfigure(1, handles))
        else:
            group.reconfigure(1, handles)
        yield all_reduced(group)

    assert run_twice(spark, task) == [6, 6, 6]
    for _, seconds in noticed_by(tmp_path, (0, 1)):
        assert seconds < SOON

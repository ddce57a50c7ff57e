"""LightGBM's ranks in Spark's Python processes, which exchange in memory that they share."""

import json
import os
import signal
import threading
import time

import numpy as np
import pytest

import spark_collectives as dist
from lightgbm_ranks import PARAMS, dataset_of, trees
from spark_collectives import _semaphores
from spark_collectives.lightgbm import (
    Network,
    _group_watch,
    _host_exchange,
    _shared_exchange,
    train,
)

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pytestmark = pytest.mark.skipif(not _semaphores.kind(), reason="there are no shared semaphores")

#: The most seconds until a killed rank is named, on a busy machine; 2 on one that is not.
SOON = 30.0


def booster_of(group, name="generated", rounds=3, act=None):
    """Train with a loop of one's own; return the trees, and whether memory was shared."""
    data, params = dataset_of(name, group.rank, group.size)
    more = {"tree_learner": "data", "num_machines": group.size, "pre_partition": True}
    with Network(group) as network:
        shared = network.shares_memory
        booster = lightgbm.Booster({**params, **more}, data)
        for number in range(rounds):
            if act is not None:
                act(number)
            booster.update()
            network.check()
        text = trees(booster)
    return text, shared


@pytest.mark.parametrize(("size", "name"), [(2, "digits"), (4, "generated")])
def test_the_model_is_that_of_the_group_without_shared_memory(ranks, size, name):
    def fit(rank, size):
        def trained():
            data, params = dataset_of(name, rank, size)
            return trees(train(params, data, 3, bin_construction="local"))

        group = dist.world()
        with Network(group) as network:
            shared = network.shares_memory
        own = trained()
        share = _shared_exchange.share
        _shared_exchange.share = lambda group: None
        try:
            return shared, own == trained(), own
        finally:
            _shared_exchange.share = share

    found = ranks(fit, size)
    assert [each[:2] for each in found] == [(True, True)] * size
    assert len({each[2] for each in found}) == 1


def test_histograms_larger_than_the_memory_go_in_pieces(ranks):
    def fit(rank, size):
        def trained():
            numbers = np.random.default_rng(rank)
            x = numbers.normal(size=(600, 400))
            data = lightgbm.Dataset(x, x[:, :5].sum(axis=1) + x[:, 5] * x[:, 6])
            params = {**PARAMS, "objective": "regression", "num_leaves": 5}
            return trees(train(params, data, 2))

        sizes = []
        real = _host_exchange.HostExchange.reduce_scatter

        def reduce_scatter(self, data, size, *rest):
            sizes.append(size)
            return real(self, data, size, *rest)

        _host_exchange.HostExchange.reduce_scatter = reduce_scatter
        share = _shared_exchange.share
        try:
            own = trained()
            _shared_exchange.share = lambda group: None
            return max(sizes), own == trained()
        finally:
            _host_exchange.HostExchange.reduce_scatter = real
            _shared_exchange.share = share

    for largest, same in ranks(fit, 3):
        assert largest > _shared_exchange._SEGMENT_BYTES
        assert same


def files_in_memory():
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def test_a_worker_killed_in_an_exchange_is_named_and_leaves_no_file(spark, tmp_path):
    folder = str(tmp_path)
    before = files_in_memory()

    def fit(kill):
        group = dist.world()

        def act(number):
            if kill and number == 2 and group.rank == 1:
                # Only once the others sleep in the exchange, which needs this rank.
                time.sleep(0.3)
                with open(f"{folder}/killed", "w") as file:
                    file.write(str(time.time()))
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            return booster_of(group, "generated", 5, act)
        except dist.PeerFailedError as e:
            with open(f"{folder}/{group.rank}", "w") as file:
                json.dump({"rank": e.rank, "text": str(e), "at": time.time()}, file)
            raise

    with pytest.raises(Exception, match=r"rank 1|worker exited|Python worker"):
        dist.run(fit, 3, True, spark=spark)
    deadline = time.monotonic() + SOON
    while not {"0", "2"} <= set(os.listdir(folder)):
        assert time.monotonic() < deadline, os.listdir(folder)
        time.sleep(0.05)
    killed = float((tmp_path / "killed").read_text())
    for rank in ("0", "2"):
        noticed = json.loads((tmp_path / rank).read_text())
        assert noticed["rank"] == 1, noticed
        assert "rank 1" in noticed["text"]
        assert noticed["at"] - killed < SOON
        print(f"rank {rank} named it after {noticed['at'] - killed:.2f} s: {noticed['text'][:300]}")
    assert files_in_memory() <= before
    found = dist.run(fit, 3, False, spark=spark)
    assert len(set(found)) == 1
    assert found[0][1]


def test_an_abort_wakes_ranks_that_wait_in_an_exchange(ranks):
    def fit(rank, size):
        group = dist.world()
        begun = []

        def act(number):
            begun.append(number)
            if number == 1 and rank == 2:
                time.sleep(0.2)
                group.abort("enough of it")

        # The rank that aborts takes part in no further exchange, before its watch has looked.
        seconds, _group_watch._SECONDS = _group_watch._SECONDS, 60 if rank == 2 else 0.05
        try:
            booster_of(group, "generated", 3, act)
        except dist.CollectiveError as e:
            return str(e), begun
        finally:
            _group_watch._SECONDS = seconds

    found = ranks(fit, 3)
    assert all("enough of it" in text for text, _ in found), found
    assert all(2 not in begun for _, begun in found), found


def test_a_rank_that_does_not_come_in_time_is_named(ranks):
    def fit(rank, size):
        group = dist.new_group(timeout=1.0)
        may_end = threading.Event()

        def act(number):
            if number == 1 and rank == 1:
                may_end.wait(3)

        try:
            booster_of(group, "generated", 2, act)
        except dist.CollectiveError as e:
            return type(e).__name__, getattr(e, "missing_ranks", ()), str(e)

    found = ranks(fit, 2)
    assert found[0][:2] == ("CollectiveTimeoutError", (1,)), found
    assert "rank 1 did not come" in found[0][2]
    assert "rank 1 did not come" in found[1][2], found


def test_a_rank_that_left_the_network_is_named(ranks):
    def fit(rank, size):
        group = dist.world()

        def act(number):
            if number == 1 and rank == 1:
                raise KeyError("mine")

        began = time.monotonic()
        try:
            booster_of(group, "generated", 3, act)
        except KeyError:
            # The rank goes on, and its task does not end.
            while time.monotonic() - began < 30:
                try:
                    group.barrier(timeout=20)
                except dist.CollectiveError:
                    break
            return None
        except dist.CollectiveError as e:
            return str(e), time.monotonic() - began

    found = ranks(fit, 2)
    assert "rank 1 left LightGBM's network" in found[0][0], found
    assert found[0][1] < 30


def test_two_groups_train_at_once(ranks):
    def fit(rank, size):
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        found = {}

        def work(key, group, name):
            found[key] = booster_of(group, name, 4)

        threads = [
            threading.Thread(target=work, args=("pair", pairs[rank // 2], "generated")),
            threading.Thread(target=work, args=("world", dist.world(), "categorical")),
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join(120)
        return found["pair"], found["world"]

    def alone(rank, size):
        return booster_of(dist.world(), "generated", 4)

    found = ranks(fit, 4)
    assert all(shared for each in found for _, shared in each)
    assert len({world for _, world in found}) == 1
    assert {pair for pair, _ in found} == {ranks(alone, 2)[0]}


def test_memory_is_used_again_by_the_next_training_of_the_group(ranks):
    def fit(rank, size):
        group = dist.world()
        seen = []
        for _ in range(3):
            booster_of(group, "generated", 1)
            seen.append([each.place.nonce for each in group._operations.host_memory._free])
        return len({str(each) for each in seen}), len(seen[0])

    assert ranks(fit, 2) == [(1, 1)] * 2


def test_ranks_that_may_not_share_memory_train_through_their_jvms(ranks, monkeypatch):
    def fit(rank, size):
        def refused(size):
            return None

        group = dist.world()
        if rank == 1:
            group._operations.host_memory.take = refused
        return booster_of(group, "generated", 2)

    found = ranks(fit, 2)
    assert [shared for _, shared in found] == [False, False]
    assert found[0] == found[1]

"""Checkpoints that cannot be kept or restored cost a line in the log, and nothing else."""

import functools
import logging
import threading

import numpy as np
import pytest

from lightgbm_ranks import ThreadGroup, dataset_of, on_threads, results, trained, trees
from spark_collectives._snapshots import Snapshots
from spark_collectives.errors import CollectiveError, PeerFailedError

LOG = "spark_collectives._checkpoint_failures"


class KeepingGroup(ThreadGroup):
    """A group of threads with checkpoints, which fail as often as a test says."""

    def __init__(self, rank, meeting, failing, error, kept):
        super().__init__(rank, meeting)
        self.failing, self.error, self.kept = failing, error, kept
        self.asked = 0

    def broadcast(self, array, root):
        array[...] = self.exchange(array)[root]

    def _ask(self):
        self.asked += 1
        self.barrier()
        if self.asked in self.failing:
            raise self.error

    def checkpoint(self, name, arrays, replicated=False):
        self._ask()
        if not replicated or self.rank == 0:
            self.kept[name, 0 if replicated else self.rank] = [each.copy() for each in arrays]
        self.barrier()

    def restore(self, name, arrays):
        self._ask()
        found = self.kept.get((name, self.rank), self.kept.get((name, 0)))
        for array, each in zip(arrays, found or []):
            array[...] = each
        return found is not None


NO_SPACE = CollectiveError("no space left in the driver")


def group_that_fails(*failing, error=NO_SPACE, kept=None, group=KeepingGroup):
    """Return how a rank's group is made, in which these calls for a checkpoint fail."""
    kept = {} if kept is None else kept
    return functools.partial(group, failing=failing, error=error, kept=kept)


class Unreadable:
    """What can be pickled, and not read again."""

    def __reduce__(self):
        return int, ("no number",)


def warnings(caplog):
    return [each.getMessage() for each in caplog.records if each.name == LOG]


@pytest.fixture
def fit():
    """Return a training of 5 rounds that keeps its model after each."""
    pytest.importorskip("lightgbm")
    from spark_collectives.lightgbm import train

    def fit(group):
        data, params = dataset_of("generated", group.rank, group.size)
        return train(params, data, 5, group=group, checkpoint_rounds=1)

    return fit


#: The calls of that training: restore, then two for each of the rounds 1 to 4.
@pytest.mark.parametrize("failing", [(1,), (2,), (3,), (4, 5, 6), tuple(range(1, 20))])
def test_a_training_goes_on_without_a_checkpoint(fit, failing, caplog):
    with caplog.at_level(logging.WARNING, LOG):
        found = results(on_threads(2, fit, group_that_fails(*failing)))
    assert [trees(each) for each in found] == [trees(each) for each in trained(2, "generated")]
    assert len(warnings(caplog)) == 1
    assert "no space left in the driver" in warnings(caplog)[0]


@pytest.mark.parametrize("failing", range(2, 10))
def test_a_training_resumes_from_the_last_model_that_was_kept(fit, failing):
    kept = {}

    class Ended(Exception):
        pass

    class Ending(KeepingGroup):
        def _ask(self):
            if self.asked == 7:
                raise Ended
            super()._ask()

    ending = group_that_fails(failing, kept=kept, group=Ending)
    assert {type(each) for each in on_threads(2, fit, ending)} == {Ended}
    resumed = results(on_threads(2, fit, group_that_fails(kept=kept)))
    whole = trained(2, "generated")
    for each in resumed:
        assert each.num_trees() == 5
        # LightGBM reads a model's text with the digits that it writes.
        np.testing.assert_allclose(
            each.predict(np.eye(20)), whole[0].predict(np.eye(20)), rtol=1e-9
        )


def test_a_training_ends_with_the_group(fit):
    group = group_that_fails(2, error=PeerFailedError("rank 1 has failed"))
    assert [type(each) for each in on_threads(2, fit, group)] == [PeerFailedError] * 2


@pytest.mark.parametrize("failing", [1, 2, 3, 4])
def test_iterations_go_on_without_a_snapshot(failing, caplog):
    kept = {}

    def iterate(group):
        snapshots = Snapshots(group)
        for iteration in (1, 2):
            snapshots.save(iteration, {"weights": iteration})

    with caplog.at_level(logging.WARNING, LOG):
        results(on_threads(2, iterate, group_that_fails(failing, kept=kept)))
    assert len(warnings(caplog)) == 1

    def restore(group):
        return Snapshots(group).restore()

    iteration = 2 if failing < 3 else 1
    found = results(on_threads(2, restore, group_that_fails(kept=kept)))
    assert found == [(iteration, {"weights": iteration}), (iteration, None)]


@pytest.mark.parametrize("state", [threading.Lock(), Unreadable()], ids=["lock", "unreadable"])
def test_iterations_begin_anew_where_the_state_cannot_be_pickled_or_read(state, caplog):
    kept = {}

    def iterate(group):
        Snapshots(group).save(1, state)

    def restore(group):
        return Snapshots(group).restore()

    with caplog.at_level(logging.WARNING, LOG):
        results(on_threads(2, iterate, group_that_fails(kept=kept)))
        assert results(on_threads(2, restore, group_that_fails(kept=kept))) == [None, None]
    assert len(warnings(caplog)) == 1

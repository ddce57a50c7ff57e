"""What LightGBM's ranks, threads of this process here, refuse before they train."""

import re
import threading

import numpy as np
import pytest

from lightgbm_ranks import (
    PARAMS,
    dataset_of,
    on_threads,
    results,
    trained,
    trees,
)
from spark_collectives.lightgbm import train

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")


def refused(change, size=2):
    """Train after a change of one rank's Dataset or parameters; return the error of each rank."""

    def fit(group):
        data, params = dataset_of("generated", group.rank, group.size)
        if group.rank == 1:
            data, params = change(data, params) or (data, params)
        train(params, data, 2, group=group)

    found = on_threads(size, fit)
    assert all(isinstance(each, Exception) for each in found), found
    assert len({(type(each), str(each)) for each in found}) == 1, found
    return found[0]


def _without_rows(data, params):
    return lightgbm.Dataset(np.empty((0, 20)), np.empty(0)), params


def _nan_label(data, params):
    data.label[3] = np.nan


def _negative_weight(data, params):
    data.weight = np.full(len(data.label), -1.0)


def _fewer_columns(data, params):
    return lightgbm.Dataset(data.data[:, :5], data.label), params


def _other_seed(data, params):
    return data, {**params, "seed": 8}


def _short_label(data, params):
    data.label = data.label[:-1]


def _constructed(data, params):
    return data.construct(), params


def _wrong_groups(data, params):
    data.group = [3, 4]


def _no_label(data, params):
    data.label = None


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_without_rows, r"rank 1 \(.+\) has no rows to train on: spread them"),
        (_nan_label, r"rank 1 \(.+\): 1 values of label are NaN or infinite, the first in row 3"),
        (_negative_weight, r"rank 1 \(.+\): 1,000 weights are negative"),
        (_fewer_columns, r"differ in their columns: 20 on rank 0 .+, 5 on rank 1"),
        (_other_seed, r"differ in their settings: .*seed=7.* on rank 0 .+seed=8.* on rank 1"),
        (_short_label, r"rank 1 \(.+\): there are 999 values of label for 1,000 rows"),
        (_constructed, r"rank 1 \(.+\): the Dataset has been constructed already"),
        (_wrong_groups, r"rank 1 \(.+\): the sizes of the groups .+ 1,000 rows, .+ add up to 7"),
        (_no_label, r"rank 1 \(.+\): there are no labels"),
    ],
)
def test_bad_rows_are_refused_on_all_ranks(change, text):
    error = refused(change)
    assert isinstance(error, ValueError)
    assert re.search(text, str(error)), error


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"machines": "a:1,b:2"}, "machines is for LightGBM's own sockets"),
        ({"local_port": 12400}, "local_listen_port is for LightGBM's own sockets"),
        ({"tree_learner": "feature"}, "tree_learner is feature; possible are data and voting"),
        (
            {"linear_tree": True},
            "linear_tree is True, and LightGBM has linear trees in one process",
        ),
        ({"linear_trees": "true"}, "linear_trees is true, and LightGBM has linear trees in one"),
        (
            {"interaction_constraints": [[0, 1], [2]]},
            r"interaction_constraints is \[\[0, 1\], \[2\]\]",
        ),
        ({"cegb_penalty_feature_coupled": [1.0] * 20}, "penalties of features in one process only"),
        ({"cegb_penalty_feature_lazy": [1.0] * 20}, "penalties of features in one process only"),
        ({"num_machines": 5}, "num_machines is 5, and must be 2, the number of ranks"),
        ({"n_jobs": 16}, r"n_jobs is 16, and must be 1, spark\.task\.cpus"),
        ({"pre_partition": False}, "pre_partition is False, and must be True"),
    ],
)
def test_parameters_that_cannot_be_honoured_are_refused(params, text):
    with pytest.raises(ValueError, match=text):
        trained(2, "generated", more=params)


def test_what_only_one_process_can_do_is_possible_with_one_rank():
    for name, value in {
        "linear_tree": True,
        "interaction_constraints": [[0, 1], [2, 3]],
        "cegb_penalty_feature_coupled": [0.1] * 20,
        "cegb_penalty_feature_lazy": [0.1] * 20,
    }.items():
        trained(1, "generated", rounds=1, more={name: value})
        trained(2, "generated", rounds=1, more={name: None})


def _initial_scores(data, params):
    data.init_score = np.zeros(len(data.label))


def _no_categories(data, params):
    data.categorical_feature = [0]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_initial_scores, "init_score=no on rank 0 .+, init_score=yes on rank 1"),
        (_no_categories, r"categorical_feature=auto on rank 0 .+, categorical_feature=\[0\] on"),
    ],
)
def test_datasets_with_which_ranks_would_not_meet_are_refused(change, text):
    error = refused(change)
    assert isinstance(error, ValueError)
    assert re.search(f"differ in their settings: {text}", str(error)), error


@pytest.mark.parametrize(
    ("rounds", "arguments", "text"),
    [
        (3, {}, "num_boost_round=2 on rank 0 .+, num_boost_round=3 on rank 1"),
        (
            2,
            {"bin_construction": "local"},
            "bin_construction=shared.* on rank 0 .+, bin_construction=local.* on rank 1",
        ),
        (2, {"checkpoint_rounds": 1}, "checkpoint_rounds=0 on rank 0"),
        (2, {"valid": True}, r"valid_names=\[\] on rank 0 .+, valid_names=\['valid_0'\] on rank 1"),
        (2, {"init": True}, "init_model=no on rank 0 .+, init_model=3 iterations on rank 1"),
    ],
)
def test_arguments_with_which_ranks_would_not_meet_are_refused(rounds, arguments, text):
    def fit(group):
        data, params = dataset_of("generated", group.rank, group.size)
        if group.rank == 0:
            return train(params, data, 2, group=group)
        more = dict(arguments)
        if more.pop("valid", False):
            more["valid_sets"] = [lightgbm.Dataset(data.data, data.label)]
        if more.pop("init", False):
            more["init_model"] = lightgbm.train(params, dataset_of("generated", 0, 1)[0], 3)
        return train(params, data, rounds, group=group, **more)

    found = on_threads(2, fit)
    assert all(isinstance(each, ValueError) for each in found), found
    assert re.search(f"differ in their settings: {text}", str(found[0])), found[0]
    assert str(found[1]) == str(found[0])


@pytest.mark.parametrize("order", [["a", "b", "c"], ["c", "b", "a"]])
def test_frames_whose_columns_have_another_order_are_refused(order):
    pandas = pytest.importorskip("pandas")

    def fit(group):
        x = np.random.default_rng(group.rank).random((200, 3))
        frame = pandas.DataFrame(x, columns=["a", "b", "c"] if group.rank == 0 else order)
        data = lightgbm.Dataset(frame, x[:, 0])
        return train({**PARAMS, "objective": "regression"}, data, 2, group=group)

    found = on_threads(2, fit)
    if order == ["a", "b", "c"]:
        assert trees(results(found)[1]) == trees(found[0])
    else:
        for each in found:
            assert isinstance(each, ValueError), each
            assert re.search(r"names of columns=\['c', 'b', 'a'\] on rank 1", str(each)), each


def test_a_missing_package_and_other_versions_are_named_on_all_ranks(monkeypatch):
    from spark_collectives.lightgbm import _library

    real = _library.version
    names = {}

    def version():
        answer = names.get(threading.current_thread().name, real)
        return answer()

    def missing():
        raise ModuleNotFoundError("The package lightgbm is not installed", name="lightgbm")

    monkeypatch.setattr(_library, "version", version)

    def fit(answer):
        def of_rank(group):
            if group.rank == 1:
                names[threading.current_thread().name] = answer
            data, params = dataset_of("generated", group.rank, group.size)
            train(params, data, 2, group=group)

        return on_threads(2, of_rank)

    for error in fit(missing):
        assert isinstance(error, ModuleNotFoundError)
        assert str(error).startswith("rank 1 ("), error
        assert "not installed" in str(error)
    for error in fit(lambda: "3.3.5"):
        assert isinstance(error, RuntimeError)
        assert "different versions of lightgbm" in str(error)
        assert f"{real()} on rank 0" in str(error)
        assert "3.3.5 on rank 1" in str(error)

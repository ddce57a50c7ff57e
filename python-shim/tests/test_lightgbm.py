"""LightGBM on ranks that are threads of this process: models, metrics, failures."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest

import lightgbm_ranks
from lightgbm_ranks import (
    PARAMS,
    dataset_of,
    generated,
    on_threads,
    over_sockets,
    part,
    results,
    trained,
    trees,
)
from spark_collectives.lightgbm import Network, train

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")

ROUNDS = 5


@pytest.mark.parametrize(
    ("size", "cases"),
    [
        (2, [("digits", {}), ("categorical", {}), ("regression", {"tree_learner": "voting"})]),
        (4, [("generated", {}), ("digits", {"bagging_fraction": 0.5, "bagging_freq": 1})]),
    ],
)
def test_models_are_those_of_sockets_byte_for_byte(size, cases):
    wanted = over_sockets(size, [(name, ROUNDS, more) for name, more in cases])
    for i, (name, more) in enumerate(cases):
        found = trained(size, name, more=more, bin_construction="local")
        assert [trees(each) for each in found] == [each[i] for each in wanted], name


@pytest.mark.parametrize("learner", ["data", "voting"])
@pytest.mark.parametrize("name", ["generated", "categorical"])
def test_bins_that_are_shared_give_the_model_of_one_process(name, learner):
    found = trained(3, name, more={"tree_learner": learner})
    x, y, _ = lightgbm_ranks.DATA[name]()
    for each in found:
        np.testing.assert_array_equal(each.predict(x), found[0].predict(x))
    order = np.concatenate([np.arange(rank, len(x), 3) for rank in range(3)])
    data, params = dataset_of(name, 0, 1)
    one = lightgbm.train(
        params,
        lightgbm.Dataset(x[order], y[order], categorical_feature=data.categorical_feature),
        ROUNDS,
    )
    if learner == "data":
        assert len({trees(each) for each in found}) == 1
        np.testing.assert_allclose(found[0].predict(x), one.predict(x), rtol=1e-6, atol=1e-9)
    else:
        assert np.corrcoef(found[0].predict(x), one.predict(x))[0, 1] > 0.95


#: Parameters with which ranks do as one process does, and whose models do not depend on the order
#: of the rows.
AS_ONE = {
    "monotone": {"monotone_constraints": [1] + [0] * 19},
    "intermediate": {
        "monotone_constraints": [1] + [0] * 19,
        "monotone_constraints_method": "intermediate",
    },
    "advanced": {"monotone_constraints": [1] + [0] * 19, "monotone_constraints_method": "advanced"},
    "penalty of splits": {"cegb_penalty_split": 0.01},
    "contributions": {"feature_contri": [0.5] * 20},
    "smooth": {"path_smooth": 1.0},
    "dart": {"boosting": "dart"},
    "goss": {"data_sample_strategy": "goss"},
    "unbalanced": {"is_unbalance": True},
    "bins by feature": {"max_bin_by_feature": [10] * 20},
    "zero as missing": {"zero_as_missing": True},
    "no missing": {"use_missing": False},
    "classes against the rest": {"objective": "multiclassova", "num_class": 2},
    "by rows": {"force_col_wise": False, "force_row_wise": True},
}


@pytest.mark.parametrize("kind", AS_ONE)
def test_what_ranks_can_do_they_do_as_one_process(kind):
    found = trained(2, "generated", more=AS_ONE[kind])
    x, y, _ = generated()
    order = np.concatenate([np.arange(rank, len(x), 2) for rank in range(2)])
    _, params = dataset_of("generated", 0, 1)
    one = lightgbm.train({**params, **AS_ONE[kind]}, lightgbm.Dataset(x[order], y[order]), ROUNDS)
    for each in found:
        np.testing.assert_allclose(each.predict(x), one.predict(x), rtol=1e-6, atol=1e-9)


def test_bins_of_a_sample_are_the_same_on_all_ranks():
    found = trained(2, "generated", more={"bin_construct_sample_cnt": 300})
    assert trees(found[0]) == trees(found[1])
    x, y, _ = generated()
    assert ((found[0].predict(x) > 0.5) == y).mean() > 0.75


MEANS = {
    "regression": [
        "l1",
        "l2",
        "rmse",
        "quantile",
        "mape",
        "huber",
        "fair",
        "poisson",
        "gamma",
        "gamma_deviance",
        "tweedie",
    ],
    "binary": ["binary_logloss", "binary_error", "cross_entropy", "cross_entropy_lambda"],
    "multiclass": ["multi_logloss", "multi_error"],
    "lambdarank": ["ndcg", "map"],
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("objective", MEANS)
def test_means_are_those_of_all_rows(objective, weighted):
    # Rank 2 has no rows of the validation set.
    sizes, valid_sizes = [400, 160, 240], [60, 300, 0]
    numbers = np.random.default_rng(11)
    classes = {"binary": 2, "multiclass": 3, "lambdarank": 4}.get(objective)

    def rows(count):
        x = numbers.normal(size=(count, 6))
        y = np.exp(0.3 * x[:, 0] + 0.1 * numbers.normal(size=count))
        if classes:
            y = np.floor(y * classes / 3).clip(0, classes - 1)
        weight = numbers.uniform(0.5, 2, count) if weighted else None
        return x, y, weight

    parts = [(rows(count), rows(valid)) for count, valid in zip(sizes, valid_sizes)]
    params = {**PARAMS, "objective": objective, "metric": MEANS[objective], "eval_at": [3, 5]}
    if objective == "multiclass":
        params["num_class"] = 3

    def dataset(values):
        x, y, weight = values
        group = np.full(len(x) // 20, 20) if objective == "lambdarank" else None
        return lightgbm.Dataset(x, y, weight=weight, group=group, free_raw_data=False)

    def fit(group):
        own, valid = parts[group.rank]
        seen = {}
        booster = train(
            params,
            dataset(own),
            3,
            valid_sets=[dataset(valid)],
            valid_names=["held out"],
            callbacks=[lightgbm.record_evaluation(seen)],
            group=group,
        )
        return seen["held out"], booster

    found = results(on_threads(3, fit))
    assert found[0][0] == found[1][0] == found[2][0]

    together = [
        tuple(None if each[0] is None else np.concatenate(each) for each in zip(*of))
        for of in zip(*parts)
    ]
    whole, valid = dataset(together[0]), dataset(together[1])
    wanted = {}
    # One more round that changes nothing, only to evaluate the model.
    lightgbm.train(
        {**params, "learning_rate": 1e-15},
        whole,
        1,
        init_model=found[0][1],
        valid_sets=[valid.set_reference(whole)],
        valid_names=["held out"],
        callbacks=[lightgbm.record_evaluation(wanted)],
    )
    assert found[0][0].keys() == wanted["held out"].keys()
    for metric, (value,) in wanted["held out"].items():
        assert found[0][0][metric][-1] == pytest.approx(value, rel=1e-6), metric


def test_other_metrics_are_means_of_the_ranks_by_rows():
    seen, local = [{}, {}], [{}, {}]

    def fit(group):
        data, params = dataset_of("generated", group.rank, group.size)
        x, y, _ = generated()
        begin, end = [(0, 300), (300, 400)][group.rank]
        valid = lightgbm.Dataset(x[begin:end], y[begin:end], free_raw_data=False)

        def own(predicted, dataset):
            return "rows", float(dataset.num_data()), True

        booster = train(
            {**params, "metric": "auc"},
            data,
            3,
            valid_sets=[valid],
            feval=own,
            callbacks=[lightgbm.record_evaluation(seen[group.rank])],
            group=group,
        )
        from sklearn.metrics import roc_auc_score

        local[group.rank] = roc_auc_score(y[begin:end], booster.predict(x[begin:end]))

    results(on_threads(2, fit))
    assert seen[0] == seen[1]
    assert seen[0]["valid_0"]["rows"][0] == pytest.approx((300 * 300 + 100 * 100) / 400)
    wanted = (300 * local[0] + 100 * local[1]) / 400
    assert seen[0]["valid_0"]["auc"][-1] == pytest.approx(wanted)


def test_early_stopping_ends_all_ranks_in_the_same_round():
    def fit(group):
        data, params = dataset_of("generated", group.rank, group.size)
        x, y, _ = generated()
        # One rank alone would go on for longer: its rows were trained on, the other's are noise.
        if group.rank == 0:
            valid = lightgbm.Dataset(part(x, 0, 2), part(y, 0, 2))
        else:
            valid = lightgbm.Dataset(part(x, 1, 2), np.roll(part(y, 1, 2), 1))
        return train(
            {**params, "early_stopping_round": 3, "learning_rate": 0.3},
            data,
            200,
            valid_sets=[valid],
            group=group,
        )

    found = results(on_threads(2, fit))
    assert found[0].best_iteration == found[1].best_iteration > 0
    assert found[0].current_iteration() == found[1].current_iteration() < 200
    assert found[0].best_score == found[1].best_score


def test_training_goes_on_from_a_model():
    first = trained(2, "generated", 3)

    def fit(group):
        data, params = dataset_of("generated", group.rank, group.size)
        return train(params, data, 4, init_model=first[group.rank], group=group)

    found = results(on_threads(2, fit))
    assert [each.current_iteration() for each in found] == [7, 7]
    assert trees(found[0]) == trees(found[1])
    x, _, _ = generated()
    whole = trained(2, "generated", 7)[0]
    np.testing.assert_allclose(found[0].predict(x), whole.predict(x), rtol=0.05, atol=0.02)


def test_frames_with_different_categories_have_those_of_all_ranks():
    pandas = pytest.importorskip("pandas")
    colours = [["blue", "red"], ["green", "red"]]

    def fit(group):
        numbers = np.random.default_rng(group.rank)
        colour = numbers.choice(colours[group.rank], 300)
        size = numbers.random(300)
        frame = pandas.DataFrame({"colour": pandas.Categorical(colour), "size": size})
        y = np.select([colour == "red", colour == "green"], [3.0, -2.0], 0.0)
        data = lightgbm.Dataset(frame, y)
        return train({**PARAMS, "objective": "regression"}, data, 30, group=group)

    found = results(on_threads(2, fit))
    assert trees(found[0]) == trees(found[1])
    asked = pandas.DataFrame(
        {"colour": pandas.Categorical(["red", "green", "blue"]), "size": [0.5] * 3}
    )
    red, green, blue = found[0].predict(asked)
    assert red > blue > green


@pytest.mark.parametrize("kind", ["csr", "arrow"])
def test_rows_may_be_sparse_or_arrow(kind):
    def fit(group):
        x, y, own = generated()
        x = part(x, group.rank, group.size)
        if kind == "csr":
            import scipy.sparse

            x = scipy.sparse.csr_matrix(x)
        else:
            pa = pytest.importorskip("pyarrow")
            x = pa.table({f"c{i}": column for i, column in enumerate(x.T)})
        data = lightgbm.Dataset(x, part(y, group.rank, group.size))
        return train({**PARAMS, **own}, data, 2, group=group)

    found = results(on_threads(2, fit))
    x, _, _ = generated()
    np.testing.assert_allclose(found[0].predict(x), trained(2, "generated", 2)[0].predict(x))


@pytest.mark.parametrize("bins", ["shared", "local"])
def test_an_objective_may_be_a_function(bins):
    def fit(group):
        data, params = dataset_of("regression", group.rank, group.size)

        # As in processes, each rank has a function object of its own.
        def squares(predictions, rows):
            return predictions - rows.get_label(), np.ones(len(predictions))

        params = {**params, "objective": squares}
        return train(params, data, ROUNDS, group=group, bin_construction=bins)

    found = results(on_threads(2, fit))
    assert trees(found[0]) == trees(found[1])
    x, _, _ = lightgbm_ranks.regression()
    built_in = trained(2, "regression", more={"boost_from_average": False}, bin_construction=bins)
    np.testing.assert_allclose(found[0].predict(x), built_in[0].predict(x), rtol=1e-6)


def test_a_rank_may_have_one_class_only():
    x, y, own = generated()
    order = np.argsort(y, kind="stable")

    def fit(group):
        rows = np.array_split(order, group.size)[group.rank]
        return train({**PARAMS, **own}, lightgbm.Dataset(x[rows], y[rows]), ROUNDS, group=group)

    found = results(on_threads(4, fit))
    assert len({trees(each) for each in found}) == 1
    assert ((found[0].predict(x) > 0.5) == y).mean() > 0.8


def test_a_network_is_left_when_its_block_raises():
    def fit(group):
        with pytest.raises(KeyError), Network(group):
            raise KeyError("mine")
        with Network(group), pytest.raises(RuntimeError, match="in use on this thread"):
            Network(group).__enter__()
        data, params = dataset_of("generated", group.rank, group.size)
        return train(params, data, 2, group=group)

    found = results(on_threads(2, fit))
    assert trees(found[0]) == trees(trained(2, "generated", 2)[0])


def test_a_failure_at_any_collective_is_raised_and_leaves_the_process_alive():
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    script = os.path.join(os.path.dirname(__file__), "lightgbm_failures.py")
    done = subprocess.run(
        [sys.executable, script, str(seed)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-500:], done.stderr[-3000:])
    assert int(done.stdout.split()[-2]) >= 45, done.stdout

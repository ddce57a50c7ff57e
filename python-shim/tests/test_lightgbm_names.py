"""The names that a user gives to LightGBM: each is known, or refused with the nearest one."""

import pytest

from lightgbm_ranks import trained
from spark_collectives.lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")

UNKNOWN = {
    "num_leafs": "num_leaves",
    "numLeaves": "num_leaves",
    "learningrate": "learning_rate",
    "min_data_in_leafs": "min_data_in_leaf",
    "featureCol": "features_col",
    "lable_col": "label_col",
    "nworkers": "num_workers",
}


@pytest.mark.parametrize("estimator", [LGBMClassifier, LGBMRegressor, LGBMRanker])
@pytest.mark.parametrize("name", UNKNOWN)
def test_an_argument_that_is_unknown_is_refused_with_the_nearest(spark, estimator, name):
    text = f"no parameter {name}, and would ignore it. Did you mean {UNKNOWN[name]}"
    with pytest.raises(TypeError, match=text):
        estimator(**{name: 3})
    with pytest.raises(TypeError, match=text):
        estimator().setParams(**{name: 3})


@pytest.mark.parametrize("name", ["num_leafs", "numLeaves"])
def test_a_parameter_of_a_rank_that_is_unknown_is_refused(name):
    with pytest.raises(ValueError, match=f"no parameter {name}, .+ mean num_leaves"):
        trained(2, "generated", more={name: 3})


def test_a_name_like_no_other_is_refused_without_a_guess(spark):
    with pytest.raises(TypeError, match=r"no parameter zzzz, and would ignore it$"):
        LGBMClassifier(zzzz=1)


def test_every_name_that_lightgbm_has_is_known(spark):
    from spark_collectives.lightgbm import _library, _lightgbm_parameters

    for name in _library.parameter_names():
        assert _lightgbm_parameters.unknown(name) == ""
    estimator = LGBMClassifier(num_iterations=3, eta=0.5, min_sum_hessian=1.0)
    assert estimator.lightgbm_params()["eta"] == 0.5


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("label", "label_col"),
        ("weight_column", "weight_col"),
        ("query", "group_col"),
        ("ignore_column", "features_col"),
        ("cat_feature", "categorical_features"),
    ],
)
def test_a_column_of_lightgbms_files_is_refused(spark, name, instead):
    with pytest.raises(TypeError, match=f"{name} is for LightGBM's files: use {instead}"):
        LGBMRanker(**{name: "a"})


@pytest.mark.parametrize("estimator", [LGBMClassifier, LGBMRegressor])
def test_the_column_of_queries_is_that_of_a_ranker(spark, estimator):
    with pytest.raises(TypeError, match="no parameter group_col"):
        estimator(group_col="query")


@pytest.mark.parametrize("estimator", [LGBMRanker, LGBMRegressor])
def test_class_weights_are_those_of_a_classifier(spark, estimator):
    with pytest.raises(TypeError, match="no parameter class_weight"):
        estimator(class_weight="balanced")


@pytest.mark.parametrize("given", ["balance", 3, [1.0, 2.0]])
def test_class_weights_are_balanced_or_by_label(spark, given):
    with pytest.raises(TypeError, match="must be 'balanced' or a dict"):
        LGBMClassifier(class_weight=given)


def test_two_names_of_one_parameter_are_refused_where_they_differ():
    with pytest.raises(ValueError, match=r"learning_rate is 0\.1 and eta is 0\.3, and both are"):
        trained(1, "generated", more={"learning_rate": 0.1, "eta": 0.3})
    trained(1, "generated", rounds=1, more={"learning_rate": 0.3, "eta": 0.3})


@pytest.mark.parametrize(
    "key", ["num_leaves", LGBMClassifier.num_leaves, LGBMClassifier], ids=["text", "class", "type"]
)
def test_maps_of_params_have_those_of_the_estimator(spark, key):
    rows = spark.createDataFrame([(0.0, [1.0])], "label double, features array<double>")
    estimator = LGBMClassifier()
    for params in ({key: 3}, [{key: 3}], {LGBMClassifier().num_leaves: 3}):
        with pytest.raises(TypeError, match="is no Param of LGBMClassifier"):
            estimator.fit(rows, params)


def test_an_objective_by_another_name_is_used(spark):
    rows = spark.range(99).selectExpr("array(double(id)) as features", "double(id) as label")
    model = LGBMRegressor(application="regression_l1", n_estimators=1, verbosity=-1).fit(rows)
    assert "objective=regression_l1" in model.booster_.model_to_string()

"""The weights of classes, beside those of LightGBM's classifier for scikit-learn."""

import numpy as np
import pytest

from lightgbm_ranks import generated, on_threads, results
from spark_collectives.lightgbm import LGBMClassifier

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")


@pytest.mark.parametrize("given", ["balanced", {0: 0.5, 2: 3.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_weights_are_those_of_lightgbm_for_scikit_learn(spark, tmp_path, given, weighted):
    import pandas

    numbers = np.random.default_rng(3)
    x, y, _ = generated(900, 8)
    y = np.where(x[:, 0] > 1.2, 2, y.astype(int))
    held_out = np.arange(900) % 5 == 0
    weight = numbers.uniform(0.5, 2, 900)
    columns = {"features": list(x), "label": y.astype(float), "held": held_out, "weight": weight}
    params = {"n_estimators": 5, "num_leaves": 7, "verbosity": -1, "class_weight": given}
    more = {"weight_col": "weight"} if weighted else {}
    estimator = LGBMClassifier(validation_indicator_col="held", repartition=False, **params, **more)
    estimator.write().overwrite().save(str(tmp_path / "estimator"))
    estimator = LGBMClassifier.load(str(tmp_path / "estimator"))
    rows = spark.createDataFrame(pandas.DataFrame(columns)).repartition(1).cache()
    # One rank has the rows in this order.
    table = rows.toPandas()
    model = estimator.fit(rows)
    rows.unpersist()

    seen = {}
    one = lightgbm.LGBMClassifier(n_jobs=1, **params)
    train, valid = table[~table.held], table[table.held]
    one.fit(
        np.stack(train.features),
        train.label,
        sample_weight=train.weight if weighted else None,
        eval_set=[(np.stack(valid.features), valid.label)],
        eval_sample_weight=[valid.weight] if weighted else None,
        callbacks=[lightgbm.record_evaluation(seen)],
    )
    np.testing.assert_allclose(model.booster_.predict(x), one.predict_proba(x), rtol=1e-9)
    np.testing.assert_allclose(
        model.evals_result_["validation"]["multi_logloss"],
        seen["valid_0"]["multi_logloss"],
        rtol=1e-9,
    )


def test_a_weight_of_a_label_that_does_not_exist_is_refused(spark):
    rows = spark.range(40).selectExpr("array(double(id)) as features", "id % 2 as label")
    with pytest.raises(ValueError, match="has a weight for 7, which is no label: those are 0, 1"):
        LGBMClassifier(class_weight={7: 2.0}).fit(rows)


@pytest.mark.parametrize("given", ["balanced", {3.0: 2.0}])
def test_weights_are_computed_over_the_rows_of_all_ranks(given):
    from sklearn.utils.class_weight import compute_sample_weight

    from spark_collectives.lightgbm import _class_weights

    classes = [0.0, 3.0, 7.0]
    # Class 1 has no rows to train on on rank 0, and class 2 none at all.
    numbers = [np.array([0, 0, 0]), np.array([1, 0, 1, 0, 0])]
    found = results(
        on_threads(
            2, lambda group: _class_weights.of_rows(group, given, classes, numbers[group.rank])
        )
    )
    labels = np.asarray(classes)[np.concatenate(numbers)]
    np.testing.assert_array_equal(np.concatenate(found), compute_sample_weight(given, labels))

"""Trains a LightGBM classifier of tumours on a DataFrame, in a barrier stage.

The data is scikit-learn's: 30 measures of 569 tumours, and whether each is benign. A fifth is held
out: the training ends when the loss of these rows has not improved for five rounds, on all
ranks in the same round.

    python examples/python/lightgbm_tumours.py --master "local[4]" --ranks 2
"""

import argparse

import digits


def frame(spark):
    """The tumours, one in a row, with their measures in an array."""
    import pandas as pd
    from sklearn.datasets import load_breast_cancer

    measures, labels = load_breast_cancer(return_X_y=True)
    table = pd.DataFrame({"features": list(measures), "label": labels.astype(float)})
    table["held_out"] = table.index % 5 == 0
    return spark.createDataFrame(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--master", default="local[4]", help="where Spark runs (%(default)s)")
    parser.add_argument("--ranks", type=int, default=2, help="how many tasks (%(default)s)")
    parser.add_argument("--rounds", type=int, default=50, help="at the most (%(default)s)")
    arguments = parser.parse_args()

    from spark_collectives.lightgbm import LGBMClassifier

    spark = digits.session(arguments.master)
    rows = frame(spark).cache()
    estimator = LGBMClassifier(
        validation_indicator_col="held_out",
        num_workers=arguments.ranks,
        n_estimators=arguments.rounds,
        learning_rate=0.2,
        num_leaves=7,
        early_stopping_round=5,
        verbosity=-1,
    )
    model = estimator.fit(rows)
    losses = model.evals_result_["validation"]["binary_logloss"]
    for round_ in range(0, len(losses), 5):
        print(f"round {round_ + 1:3d}: loss of the tumours held out {losses[round_]:.4f}")
    print(f"least after {model.best_iteration_} rounds: {min(losses):.4f}")
    right = model.transform(rows).where("held_out and prediction = label").count()
    held_out = rows.where("held_out").count()
    print(f"right on {held_out} tumours held out: {100 * right / held_out:.1f}%")
    spark.stop()


if __name__ == "__main__":
    main()

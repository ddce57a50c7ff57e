"""Times Spark ML's estimators, each as Spark has it and with the whole fit in one barrier stage.

The two take turns on the same rows, several times over. What counts is the whole `fit`, with the
start of its jobs; a first round, in which the JVMs still compile, does not. What is printed is the
median.

    examples/ml-benchmark --rounds 3 --json times.json --plot times.png
"""

import argparse
import json
import statistics
import time

from pyspark.ml.classification import LinearSVC, LogisticRegression
from pyspark.ml.clustering import GaussianMixture, KMeans
from pyspark.ml.functions import array_to_vector
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ITERATIONS = 100

PACKAGES = {
    LogisticRegression: "classification",
    LinearSVC: "classification",
    KMeans: "clustering",
    GaussianMixture: "clustering",
}


class Case:
    """An estimator on generated rows of a size."""

    def __init__(self, name, rows, features, cached, make):
        self.name = name
        self.rows = rows
        self.features = features
        self.cached = cached
        self.make = make


def cases(smaller):
    """What is measured; `smaller` divides the rows, to try the program."""
    many, few = 100_000 // smaller, 4_000 // smaller
    wide = 5_000 // smaller
    gradients = {"maxIter": ITERATIONS, "tol": 0.0, "regParam": 0.001}
    clusters = {"maxIter": ITERATIONS, "tol": 0.0, "k": 20, "seed": 1, "initMode": "random"}
    return [
        Case("LogisticRegression", many, 100, True, lambda: LogisticRegression(**gradients)),
        Case("LinearSVC", many, 100, True, lambda: LinearSVC(**gradients)),
        Case("LogisticRegression, wide", few, wide, True, lambda: LogisticRegression(**gradients)),
        Case("KMeans", many, 100, False, lambda: KMeans(**clusters)),
        Case("KMeans, cached", many, 100, True, lambda: KMeans(**clusters)),
        Case(
            "GaussianMixture",
            many // 5,
            20,
            True,
            lambda: GaussianMixture(k=5, maxIter=ITERATIONS // 4, tol=0.0, seed=1),
        ),
        # Hardly anything but the start of the jobs.
        Case(
            "LogisticRegression, 1 iteration", 200, 4, True, lambda: LogisticRegression(maxIter=1)
        ),
        Case("KMeans, 1 iteration", 200, 4, True, lambda: KMeans(k=2, maxIter=1, seed=1)),
    ]


def generated(spark, case, ranks):
    """Rows of normal features, whose label depends on the first ones; always the same."""
    features = [F.randn(seed=j) for j in range(case.features)]
    rows = spark.range(0, case.rows, 1, ranks).select(F.array(*features).alias("x"))
    score = sum(F.col("x")[j] * (1.0 if j % 2 else -0.5) for j in range(min(10, case.features)))
    labelled = rows.select(
        array_to_vector("x").alias("features"),
        (score + F.randn(seed=1000) > 0).cast("double").alias("label"),
    )
    # Written once: else each estimator would time the generator too.
    path = (
        f"file:///tmp/ml-benchmark-{spark.sparkContext.applicationId}-{case.rows}-{case.features}"
    )
    labelled.write.mode("overwrite").parquet(path)
    read = spark.read.parquet(path).repartition(ranks).cache() if case.cached else None
    if read is not None:
        read.count()
        return read
    return spark.read.parquet(path)


def in_one_stage(spark, estimator):
    """Lets an estimator of PySpark fit by this library's class of the same name."""
    package = getattr(spark._jvm.org.sparkcollectives.ml, PACKAGES[type(estimator)])
    estimator._java_obj = getattr(package, type(estimator).__name__)(estimator.uid)
    return estimator


def seconds(estimator, rows):
    """The time of a whole fit."""
    begin = time.perf_counter()
    estimator.fit(rows)
    return time.perf_counter() - begin


def measure(spark, case, ranks, rounds):
    """The times of both on the rows of a case."""
    rows = generated(spark, case, ranks)
    spark_times, own_times = [], []
    for i in range(rounds + 1):
        stock = seconds(case.make(), rows)
        own = seconds(in_one_stage(spark, case.make()), rows)
        if i > 0:
            spark_times.append(stock)
            own_times.append(own)
    rows.unpersist()
    return {
        "case": case.name,
        "rows": case.rows,
        "features": case.features,
        "ranks": ranks,
        "spark_s": spark_times,
        "collectives_s": own_times,
    }


def line(result):
    """A row of the table."""
    stock = statistics.median(result["spark_s"])
    own = statistics.median(result["collectives_s"])
    size = f"{result['rows']} x {result['features']}"
    return f"| {result['case']} | {size} | {stock:.2f} | {own:.2f} | {stock / own:.1f} |"


def plot(results, path):
    """Draws the medians side by side."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 0.7 * len(results) + 1.5), layout="constrained")
    for offset, key, label in [(-0.2, "spark_s", "Spark"), (0.2, "collectives_s", "one stage")]:
        medians = [statistics.median(result[key]) for result in results]
        axes.barh([i + offset for i in range(len(results))], medians, 0.38, label=label)
    axes.set_yticks(range(len(results)), [result["case"] for result in results])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("seconds for a fit")
    axes.legend()
    figure.savefig(path)


def main():
    """Measures what the options say."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smaller", type=int, default=1, help="divides the sizes, for a trial")
    parser.add_argument("--only", help="only the cases whose names begin so")
    parser.add_argument("--json", help="the file for all times")
    parser.add_argument("--plot", help="the file for a picture; needs matplotlib")
    options = parser.parse_args()

    spark = SparkSession.builder.appName("ml-benchmark").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    print("| estimator | rows x features | Spark, s | one barrier stage, s | times faster |")
    print("|---|---:|---:|---:|---:|")
    results = []
    for case in cases(options.smaller):
        if options.only and not case.name.startswith(options.only):
            continue
        results.append(measure(spark, case, options.ranks, options.rounds))
        print(line(results[-1]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    if options.plot:
        plot(results, options.plot)
    spark.stop()


if __name__ == "__main__":
    main()

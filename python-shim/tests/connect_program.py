"""A program of a client of Spark Connect, which knows nothing of Spark Collectives.

Its arguments are the server's address, a folder for models and, optionally, what the session's
setting spark.connect.ml.backend.classes gets. It prints what its models have learned.
"""

import json
import sys

import numpy as np
import pandas as pd
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import LogisticRegression, LogisticRegressionModel, NaiveBayes
from pyspark.ml.clustering import KMeans
from pyspark.ml.feature import StandardScaler, VectorAssembler
from pyspark.sql import SparkSession


def main(address, folder, *backend):
    spark = SparkSession.builder.remote(address).create()
    for name in backend:
        spark.conf.set("spark.connect.ml.backend.classes", name)

    random = np.random.default_rng(4)
    x = random.uniform(0, 4, size=(200, 3))
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["label"] = (x @ [1.0, -2.0, 0.5] + random.normal(size=200) > 0).astype(float)
    rows = VectorAssembler(inputCols=["a", "b", "c"], outputCol="features").transform(
        spark.createDataFrame(table)
    )

    scaler = StandardScaler(inputCol="features", outputCol="scaled")
    logistic = LogisticRegression(featuresCol="scaled", maxIter=10, regParam=0.1)
    pipeline = Pipeline(stages=[scaler, logistic]).fit(rows)
    fitted = pipeline.stages[1]
    pipeline.write().overwrite().save(f"{folder}/pipeline")
    loaded = PipelineModel.load(f"{folder}/pipeline")
    fitted.write().overwrite().save(f"{folder}/model")
    model = LogisticRegressionModel.load(f"{folder}/model")
    clusters = KMeans(k=3, seed=2, maxIter=5).fit(rows)
    # Has no counterpart in Spark Collectives.
    NaiveBayes().fit(rows)

    predicted = loaded.transform(rows).select("label", "prediction").toPandas()
    learned = {
        "coefficients": model.coefficients.toArray().tolist(),
        "intercept": fitted.intercept,
        "history": list(fitted.summary.objectiveHistory),
        "accuracy": float((predicted.label == predicted.prediction).mean()),
        "cost": clusters.summary.trainingCost,
        "centres": [centre.tolist() for centre in clusters.clusterCenters()],
    }
    print(json.dumps(learned))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

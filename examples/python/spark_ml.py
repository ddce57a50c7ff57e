"""Classifies images of digits with a pipeline of Spark ML, and chooses its parameters.

Of a program for Spark alone, only the import of LogisticRegression differs.

    python examples/python/spark_ml.py --master "local[4]" --ranks 4
"""

import digits
from pyspark.ml import Pipeline
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import StandardScaler
from pyspark.ml.functions import array_to_vector
from pyspark.ml.tuning import ParamGridBuilder, TrainValidationSplit
from pyspark.sql import functions as F

from spark_collectives.ml.classification import LogisticRegression


def main():
    parser = digits.options(__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=30, help="at most (%(default)s)")
    options = parser.parse_args()
    spark = digits.session(options.master)

    images = digits.images(spark, options.data).select(
        array_to_vector("pixels").alias("features"),
        F.col("digit").cast("double").alias("label"),
        "held_out",
    )
    images = images.repartition(options.ranks).cache()
    known, held_out = images.where("not held_out"), images.where("held_out")

    scaler = StandardScaler(inputCol="features", outputCol="scaled", withMean=True)
    logistic = LogisticRegression(
        featuresCol="scaled", maxIter=options.iterations, elasticNetParam=0.5
    )
    evaluator = MulticlassClassificationEvaluator(metricName="accuracy")
    search = TrainValidationSplit(
        estimator=Pipeline(stages=[scaler, logistic]),
        estimatorParamMaps=ParamGridBuilder().addGrid(logistic.regParam, [0.1, 0.003]).build(),
        evaluator=evaluator,
        seed=7,
    )
    model = search.fit(known).bestModel
    fitted = model.stages[1]
    losses = fitted.summary.objectiveHistory
    print(f"regParam {fitted.getRegParam()}: loss {losses[0]:.3f}, at last {losses[-1]:.3f}")
    right = evaluator.evaluate(model.transform(held_out))
    print(f"accuracy on {held_out.count()} held-out images: {100 * right:.1f}%")
    spark.stop()


if __name__ == "__main__":
    main()

# Databricks notebook source
# MAGIC %md
# MAGIC # Gradient boosting with LightGBM in Spark tasks
# MAGIC
# MAGIC Two tasks of a barrier stage train one LightGBM model on the rows of a DataFrame. LightGBM's network runs over the
# MAGIC collectives of their group: it opens no port, and a task that is lost is named by the other one.

# COMMAND ----------

import spark_collectives
from pyspark.sql import SparkSession

try:
    spark  # where the notebook's server has made one, with the library's jar
except NameError:
    spark = spark_collectives.configure(SparkSession.builder.master("local[4]")).getOrCreate()

# COMMAND ----------

# MAGIC %md
# MAGIC The data is scikit-learn's: 30 measures of 569 tumours, and whether each is benign. A fifth is held out.

# COMMAND ----------

import pandas as pd
from sklearn.datasets import load_breast_cancer

measures, labels = load_breast_cancer(return_X_y=True)
table = pd.DataFrame({"features": list(measures), "label": labels.astype(float)})
table["held_out"] = table.index % 5 == 0
tumours = spark.createDataFrame(table).cache()
tumours.groupBy("label", "held_out").count().orderBy("label", "held_out").show(4)

# COMMAND ----------

# MAGIC %md
# MAGIC The estimator has the names of LightGBM's own. The loss of the held out rows is that of both ranks together, so both stop
# MAGIC in the same round.

# COMMAND ----------

from spark_collectives.lightgbm import LGBMClassifier

estimator = LGBMClassifier(
    validation_indicator_col="held_out",
    num_workers=2,
    n_estimators=50,
    learning_rate=0.2,
    num_leaves=7,
    early_stopping_round=5,
    verbosity=-1,
)
model = estimator.fit(tumours)
losses = model.evals_result_["validation"]["binary_logloss"]
print(f"best round {model.best_iteration_} of {len(losses)}")

# COMMAND ----------

import matplotlib.pyplot as plt

plt.figure(figsize=(7, 3))
plt.plot(range(1, len(losses) + 1), losses)
plt.axvline(model.best_iteration_, linestyle=":")
plt.xlabel("round")
plt.ylabel("loss of the held out rows")
plt.title("Two ranks, one model")
plt.show()

# COMMAND ----------

# MAGIC %md
# MAGIC The model is a transformer of `pyspark.ml`, and has a `lightgbm.Booster`.

# COMMAND ----------

from pyspark.ml.evaluation import MulticlassClassificationEvaluator

predicted = model.transform(tumours.where("held_out"))
predicted.select("label", "prediction", "probability").show(5)
accuracy = MulticlassClassificationEvaluator(metricName="accuracy").evaluate(predicted)
print(f"accuracy {accuracy:.3f}, {model.booster_.num_trees()} trees")
assert accuracy > 0.9

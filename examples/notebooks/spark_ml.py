# Databricks notebook source
# MAGIC %md
# MAGIC # A fit of Spark ML in one barrier stage
# MAGIC
# MAGIC Spark ML's own logistic regression, and the one of `spark_collectives.ml`, on the same rows: the breast cancer data of
# MAGIC scikit-learn. Both give the same model. Spark's runs a job in each iteration; the other runs one stage, in which the
# MAGIC tasks add up their gradients among themselves.

# COMMAND ----------

import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from pyspark.ml import classification as sparks
from pyspark.ml.feature import StandardScaler
from pyspark.ml.functions import array_to_vector
from pyspark.sql import SparkSession
from sklearn.datasets import load_breast_cancer

import spark_collectives

try:
    spark  # where the notebook's server has made one, with both jars of the library
except NameError:
    spark = spark_collectives.configure(SparkSession.builder.master("local[2]")).getOrCreate()

from spark_collectives.ml import classification

# COMMAND ----------

# MAGIC %md
# MAGIC 569 samples of 30 measurements, and whether the tumour was benign. They are kept in memory for Spark's own fit too.

# COMMAND ----------

measured, benign = load_breast_cancer(return_X_y=True)
table = pd.DataFrame({"label": benign.astype(float), "measured": list(map(list, measured))})
rows = spark.createDataFrame(table).withColumn("raw", array_to_vector("measured"))
scaler = StandardScaler(inputCol="raw", outputCol="features", withMean=True)
rows = scaler.fit(rows).transform(rows).select("label", "features").repartition(2).cache()
print(f"{rows.count()} rows in {rows.rdd.getNumPartitions()} partitions")

# COMMAND ----------

# MAGIC %md
# MAGIC The same parameters for both classes. The first fit of each is not counted: it loads classes.

# COMMAND ----------

classes = {
    "Spark": sparks.LogisticRegression,
    "Spark Collectives": classification.LogisticRegression,
}
iterations = [5, 15, 40]
models, seconds = {}, {name: [] for name in classes}
for name, kind in classes.items():
    kind(maxIter=2, regParam=1e-3).fit(rows)
    for most in iterations:
        began = time.perf_counter()
        models[name] = kind(maxIter=most, regParam=1e-3, tol=0.0).fit(rows)
        seconds[name].append(time.perf_counter() - began)

# COMMAND ----------

plt.figure(figsize=(7, 3.5))
for name, each in seconds.items():
    plt.plot(iterations, each, marker="o", label=name)
plt.xlabel("iterations")
plt.ylabel("seconds for the fit")
plt.ylim(bottom=0)
plt.legend()
plt.title("Logistic regression, two tasks")
plt.show()

# COMMAND ----------

# MAGIC %md
# MAGIC The models are of one class, and equal.

# COMMAND ----------

stock, own = (models[name] for name in classes)
assert type(stock) is type(own)
np.testing.assert_allclose(own.coefficients, stock.coefficients, rtol=1e-6, atol=1e-9)
print(f"accuracy {own.summary.accuracy:.3f}, with both: {own.summary.accuracy == stock.summary.accuracy}")
spark.stop()

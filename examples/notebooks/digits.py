# Databricks notebook source
# MAGIC %md
# MAGIC # Training on handwritten digits, with PyTorch in Spark tasks
# MAGIC
# MAGIC Four tasks of a barrier stage are the ranks of a process group, and train one network together with
# MAGIC `DistributedDataParallel`. The backend `"spark"` averages their gradients; no address, no port and no environment
# MAGIC variable is needed. What each rank prints appears below its cell while it runs.

# COMMAND ----------

from pathlib import Path

import spark_collectives
from pyspark.sql import SparkSession, functions as F

try:
    spark  # where the notebook's server has made one, with the library's jar
except NameError:
    spark = spark_collectives.configure(SparkSession.builder.master("local[4]")).getOrCreate()

# It comes with the package, which every executor has.
data = f"file://{Path(spark_collectives.__file__).parent}/examples/digits.csv"

# COMMAND ----------

# MAGIC %md
# MAGIC The data: 1,797 images of 8 by 8 pixels, and the digit that each shows.

# COMMAND ----------

table = spark.read.csv(data, inferSchema=True)
digits = table.select(
    F.array(*[F.col(name) / 16 for name in table.columns[:64]]).alias("pixels"),
    F.col(table.columns[64]).cast("long").alias("digit"),
)
digits.groupBy("digit").count().orderBy("digit").show()

# COMMAND ----------

# MAGIC %md
# MAGIC What each rank does. It is a PyTorch program as for any other backend; only the name `"spark"` is new.

# COMMAND ----------


def train(pixels, labels, epochs):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    import spark_collectives.torch  # registers the backend

    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("spark")
    images = TensorDataset(torch.tensor(pixels).float().view(-1, 1, 8, 8), torch.tensor(labels))
    sampler = DistributedSampler(images)
    model = DistributedDataParallel(
        torch.nn.Sequential(
            torch.nn.Conv2d(1, 16, 3, padding=1),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(256, 10),
        )
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(())
        batches = DataLoader(images, batch_size=16, sampler=sampler)
        for chosen, wanted in batches:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(chosen), wanted)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        mean = total / len(batches)
        dist.all_reduce(mean, op=dist.ReduceOp.AVG)
        losses.append(float(mean))
        if dist.get_rank() == 0:
            print(f"epoch {epoch + 1}: loss {losses[-1]:.4f}")
            spark_collectives.report_progress(epoch + 1, epochs, loss=f"{losses[-1]:.3f}")
    dist.destroy_process_group()
    return losses


# COMMAND ----------

# MAGIC %md
# MAGIC `run` makes a barrier stage of four tasks, shows what they print, and gives what they return. When the cell is
# MAGIC interrupted, the stage is cancelled; when it is run again, its ranks form a new group.

# COMMAND ----------

rows = digits.collect()
pixels, labels = [row.pixels for row in rows], [row.digit for row in rows]
losses = spark_collectives.run(train, 4, pixels, labels, epochs=12, spark=spark)

# COMMAND ----------

import matplotlib.pyplot as plt

plt.figure(figsize=(7, 3))
plt.plot(range(1, len(losses[0]) + 1), losses[0], marker="o")
plt.xlabel("epoch")
plt.ylabel("loss, mean over all ranks")
plt.title("Four ranks, one network")
plt.show()

# COMMAND ----------

# MAGIC %md
# MAGIC All ranks have seen the same mean, bit for bit.

# COMMAND ----------

assert all(each == losses[0] for each in losses)
print(f"loss {losses[0][0]:.3f} in the first epoch, {losses[0][-1]:.3f} in the last")

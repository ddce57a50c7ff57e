// Databricks notebook source
// MAGIC %md
// MAGIC # Training on handwritten digits, in Scala
// MAGIC
// MAGIC Four tasks of a barrier stage are the ranks of a process group. Each has its part of the rows; gradients are added
// MAGIC up over all of them, so that each takes the same steps.

// COMMAND ----------

import org.sparkcollectives.{ReduceOp, Tensor}
import org.sparkcollectives.spark.SparkCollectives

// Where the executors can read it: on a cluster, a path of a file system that all of them have.
// On Databricks that of a volume, such as "/Volumes/main/default/libraries/digits.csv".
val data = "../data/digits.csv"

// COMMAND ----------

// MAGIC %md
// MAGIC The data: 1,797 images of 8 by 8 pixels, and the digit that each shows.

// COMMAND ----------

val table = spark.read.option("inferSchema", "true").csv(data)
val images = table.rdd.map(row => (Array.tabulate(64)(i => row.getInt(i) / 16.0) :+ 1.0, row.getInt(64)))
println(s"${images.count()} images")

// COMMAND ----------

// MAGIC %md
// MAGIC Softmax regression: the gradient of one image, and the steps that each rank takes.

// COMMAND ----------

object Softmax extends Serializable {
  val digits = 10

  /** Adds the gradient of one image, and at the end of the array its loss. */
  def add(gradient: Array[Double], weights: Array[Double], image: Array[Double], digit: Int): Unit = {
    val scores = Array.tabulate(digits)(k => image.indices.map(i => image(i) * weights(i * digits + k)).sum)
    val powers = scores.map(score => math.exp(score - scores.max))
    val shares = powers.map(_ / powers.sum)
    for (i <- image.indices; k <- 0 until digits)
      gradient(i * digits + k) += image(i) * (shares(k) - (if (k == digit) 1 else 0))
    gradient(gradient.length - 1) -= math.log(shares(digit))
  }

  def train(rows: Iterator[(Array[Double], Int)], steps: Int, rate: Double): Iterator[Double] = {
    val world = SparkCollectives.world()
    val own = rows.toArray
    val count = Array(own.length.toDouble)
    world.allReduce(Tensor.of(count: _*), ReduceOp.SUM).await()
    val weights = new Array[Double](65 * digits)
    val losses = (1 to steps).map { _ =>
      val gradient = new Array[Double](weights.length + 1)
      for ((image, digit) <- own) add(gradient, weights, image, digit)
      world.allReduce(Tensor.of(gradient: _*), ReduceOp.SUM).await()
      for (i <- weights.indices) weights(i) -= rate * gradient(i) / count(0)
      gradient.last / count(0)
    }
    if (world.rank == 0) losses.iterator else Iterator.empty
  }
}

// COMMAND ----------

val losses = images.repartition(4).barrier().mapPartitions(rows => Softmax.train(rows, 60, 0.5)).collect()
println(f"loss ${losses.head}%.3f in the first step, ${losses.last}%.3f in the last")

// COMMAND ----------

def curve(losses: Seq[Double]): String = {
  val points = losses.zipWithIndex.map { case (loss, i) =>
    s"${40 + 540 * i / (losses.size - 1)},${math.round(180 - 160 * loss / losses.max)}"
  }
  s"""<svg width="600" height="200" xmlns="http://www.w3.org/2000/svg">
     |  <polyline points="40,20 40,180 580,180" fill="none" stroke="gray"/>
     |  <polyline points="${points.mkString(" ")}" fill="none" stroke="steelblue" stroke-width="2"/>
     |  <text x="45" y="30">loss, from ${"%.2f".format(losses.head)} to ${"%.2f".format(losses.last)}</text>
     |  <text x="540" y="195">step</text>
     |</svg>""".stripMargin
}

// COMMAND ----------

displayHTML(curve(losses.toSeq))

package org.sparkcollectives.spark

import scala.collection.JavaConverters._

import org.apache.spark.ml.linalg.{DenseMatrix, DenseVector, SparseVector}
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema
import org.apache.spark.sql.types.{DataType, DoubleType, ObjectType, StructField, StructType}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{ReduceOp, Tensor}

/** Tests Spark's vectors, matrices and rows as tensors, also in a job. */
class SparkTensorsSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName)

  private def doubles(tensor: Tensor): Seq[Double] = {
    val values = new Array[Double](tensor.count.toInt)
    tensor.copyTo(values)
    values.toSeq
  }

  private def rows(values: (Any, Any)*): java.util.Iterator[Row] = {
    val schema = StructType(
      Seq("label", "features").map(StructField(_, ObjectType(classOf[Any]): DataType))
    )
    values
      .map { case (label, features) =>
        new GenericRowWithSchema(Array(label, features), schema): Row
      }
      .iterator
      .asJava
  }

  test("a dense vector and its tensor are the same memory") {
    val vector = new DenseVector(Array(1.0, 2.0, 3.0))
    val tensor = SparkTensors.of(vector)
    assert(tensor.array eq vector.values)
    assert(tensor.shape.toSeq == Seq(3L))
  }

  test("a matrix is a tensor in the order in which it is stored") {
    val values = Array(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    val byColumns = SparkTensors.of(new DenseMatrix(2, 3, values))
    assert((byColumns.array eq values) && byColumns.shape.toSeq == Seq(3L, 2L))
    val byRows = SparkTensors.of(new DenseMatrix(2, 3, values, true))
    assert((byRows.array eq values) && byRows.shape.toSeq == Seq(2L, 3L))
  }

  test("a sparse vector keeps its values") {
    val vector = new SparseVector(9, Array(2, 7), Array(0.5, 1.5))
    val tensor = SparkTensors.of(vector)
    assert(tensor.shape.toSeq == Seq(9L))
    assert(tensor.values.array eq vector.values)
    val places = new Array[Long](2)
    tensor.indices.copyTo(places)
    assert(places.toSeq == Seq(2L, 7L))
  }

  test("columns of numbers and vectors lie side by side") {
    val tensor = SparkTensors.columns(
      rows(
        1 -> new DenseVector(Array(0.1, 0.2)),
        2.5f -> new SparseVector(2, Array(1), Array(9.0)),
        new java.math.BigDecimal("3.25") -> new DenseVector(Array(-1.0, -2.0))
      ),
      "features",
      "label"
    )
    assert(tensor.shape.toSeq == Seq(3L, 3L))
    assert(doubles(tensor) == Seq(0.1, 0.2, 1.0, 0.0, 9.0, 2.5, -1.0, -2.0, 3.25))
    val many = SparkTensors.columns(rows(Seq.tabulate(5000)(i => i -> i * 2): _*), "label")
    assert(doubles(many) == Seq.tabulate(5000)(_.toDouble))
  }

  test("columns without rows have as many columns, of one number each") {
    val tensor = SparkTensors.columns(rows(), "label", "features")
    assert(tensor.shape.toSeq == Seq(0L, 2L))
  }

  test("what is no number is refused with its place") {
    def refused(values: (Any, Any)*): String =
      intercept[IllegalArgumentException](
        SparkTensors.columns(rows(values: _*), "label", "features")
      ).getMessage
    assert(refused((1, 1), (null, 1)).contains("Column \"label\" of row 1 is null"))
    assert(refused(1 -> "x").contains("Column \"features\" of row 0 is a java.lang.String"))
    val vector = new DenseVector(Array(1.0))
    assert(
      refused(1 -> vector, 1 -> new DenseVector(Array(1.0, 2.0)))
        .contains("Column \"features\" of row 1 is a vector of 2, not of 1 as in the rows before")
    )
    assert(
      refused(1 -> vector, 2 -> 2)
        .contains("Column \"features\" of row 1 is a number, not a vector of 1")
    )
    assert(
      refused(1 -> 1, 2 -> vector)
        .contains("Column \"features\" of row 1 is a vector of 1, not a number")
    )
    assert(refused(true -> 1).contains("Column \"label\" of row 0 is a java.lang.Boolean"))
  }

  test("more values than an array holds are refused before there is memory for them") {
    val huge = new SparseVector(Int.MaxValue, Array.empty, Array.empty)
    val message = intercept[IllegalArgumentException](
      SparkTensors.columns(rows(1 -> huge), "label", "features")
    ).getMessage
    assert(
      message.contains(
        "Column \"features\" of row 0 is one too many: with it there would be 2147483648 values"
      )
    )
  }

  test("rows that are null or have no names are refused") {
    def refused(row: Row): String =
      intercept[IllegalArgumentException](
        SparkTensors.columns(java.util.Collections.singletonList(row).iterator, "x")
      ).getMessage
    assert(refused(null).contains("Row 0 is null"))
    assert(refused(Row(1.0)).contains("Row 0 has no schema"))
  }

  test("the rows of a data frame are reduced across the ranks") {
    val session = SparkSession.builder().getOrCreate()
    val frame = session.createDataFrame(
      sc.parallelize(Seq.tabulate(8)(i => Row(i.toDouble, 2.0 * i)), 4),
      StructType(Seq("x", "y").map(StructField(_, DoubleType)))
    )
    val sums = frame.rdd
      .barrier()
      .mapPartitions { rows =>
        val mine = SparkTensors.columns(rows.asJava, "x", "y")
        val values = new Array[Double](mine.count.toInt)
        mine.copyTo(values)
        val sum = new DenseVector(values)
        SparkCollectives.world().allReduce(SparkTensors.of(sum), ReduceOp.SUM).await()
        Iterator(sum.values.toSeq)
      }
      .collect()
      .toSeq
    assert(sums == Seq.fill(4)(Seq(12.0, 24.0, 16.0, 32.0)))
  }
}

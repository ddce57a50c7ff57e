package org.sparkcollectives.spark

import java.nio.file.{Files, Path}

import org.apache.spark.api.java.JavaRDD
import org.apache.spark.rdd.RDD
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{ReduceOp, Tensor}

/** Tests that the README's programs are these, and do what the README says. */
class ReadmeSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName)

  private def points: RDD[Array[Double]] =
    sc.parallelize((1 to 8).map(i => Array(i.toDouble, 1.0)), 4)

  private def assertSums(gradients: Seq[Array[Double]]): Unit =
    assert(gradients.map(_.toSeq) == Seq.fill(4)(Seq(36.0, 8.0)))

  test("the program in Java") {
    val sums = ReadmeProgram.run(JavaRDD.fromRDD(points))
    assertSums(sums.toArray(Array.empty[Array[Double]]).toSeq)
  }

  test("the program in Scala") {
    assertSums(ReadmeScalaProgram.run(points))
  }

  test("the README shows what is compiled here, but for blanks") {
    val readme = words(Files.readString(Path.of("../../README.md")))
    val folder = Path.of("src/test")
    for (
      (language, source) <- Seq(
        "java" -> "java/org/sparkcollectives/spark/ReadmeProgram.java",
        "scala" -> "scala/org/sparkcollectives/spark/ReadmeSuite.scala"
      )
    ) {
      val marker = "// READ" + "ME"
      val compiled = Files.readString(folder.resolve(source)).split(marker)(1)
      val program = words(compiled.stripSuffix("// "))
      assert(readme.contains(s"```$language$program```"), s"the README's program in $language")
    }
  }

  private def words(text: String): String = text.replaceAll("\\s+", "")
}

object ReadmeScalaProgram {

  private def localGradient(rows: Iterator[Array[Double]]): Array[Double] =
    rows.reduce((a, b) => Array(a(0) + b(0), a(1) + b(1)))

  // format: off
  def run(points: RDD[Array[Double]]): Seq[Array[Double]] = {
// README
val gradients = points.barrier().mapPartitions { rows =>
  val world = SparkCollectives.world()
  val gradient: Array[Double] = localGradient(rows)
  world.allReduce(Tensor.of(gradient: _*), ReduceOp.SUM).await()
  Iterator(gradient)
}
// README
    gradients.collect().toSeq
  }
  // format: on
}

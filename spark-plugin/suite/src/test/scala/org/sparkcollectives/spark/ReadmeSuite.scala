package org.sparkcollectives.spark

import java.nio.file.{Files, Path}

import org.apache.spark.api.java.JavaRDD
import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{ReduceOp, Tensor}

/** Tests that the README's programs are these, and do what the README says. */
class ReadmeSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName)

  private def points: RDD[Array[Double]] =
    sc.parallelize((1 to 8).map(i => Array(i.toDouble, 1.0)), 4)

  test("the program in Java") {
    val sums = ReadmeProgram.run(JavaRDD.fromRDD(points))
    val gradients = sums.toArray(Array.empty[Array[Double]])
    assert(gradients.map(_.toSeq).toSeq == Seq.fill(4)(Seq(36.0, 8.0)))
  }

  test("the program in Scala") {
    assert(ReadmeScalaProgram.run(sc) == (0 until 4).map(rank => s"rank $rank of 4: 36.0"))
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
      assert(readme.contains(program), s"the README's program in $language")
    }
  }

  private def words(text: String): String = text.replaceAll("\\s+", "")
}

object ReadmeScalaProgram {

  // format: off
  def run(sc: SparkContext): Seq[String] = {
// README
val sums = sc.parallelize(1 to 8, 4).barrier().mapPartitions { rows =>
  val world = SparkCollectives.world()
  val sum = Array(rows.sum.toDouble)                          // of this rank's rows
  world.allReduce(Tensor.of(sum: _*), ReduceOp.SUM).await()   // in sum itself: of all ranks
  Iterator(s"rank ${world.rank} of ${world.size}: ${sum(0)}")
}
// README
    sums.collect().toSeq
  }
  // format: on
}

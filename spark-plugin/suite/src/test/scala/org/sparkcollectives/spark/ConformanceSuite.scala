package org.sparkcollectives.spark

import java.nio.file.Paths

import scala.collection.mutable.ListBuffer

import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.conformance.ConformanceRank
import org.sparkcollectives.testing.Eventually

/** Runs a sample of the cases of all operations, as Spark's tasks in two executors of one host. */
class ConformanceSuite extends AnyFunSuite with LocalCluster {

  override def cores: Int = 4

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName)

  override def conf: SparkConf = {
    val conf = super.conf
    val options = conf.get("spark.executor.extraJavaOptions")
    // All ranks must use the same seed; a failure names it.
    val seed = s"-Dconformance.seed=${java.lang.Long.getLong("conformance.seed", System.nanoTime)}"
    conf
      .set("spark.executor.extraJavaOptions", s"$options $seed")
      .set("spark.jars", (LocalCluster.jars ++ ConformanceSuite.jars).mkString(","))
  }

  test("a sample of all operations conforms in Spark's tasks, and ranks agree on every result") {
    val lines = Jobs.ranks(sc, ConformanceRank.WORLD) { world =>
      val lines = ListBuffer.empty[String]
      ConformanceRank.run(world, false, line => lines += line)
      lines.toList
    }
    assert(lines.head.size > 500)
    // The ranks of smaller worlds are the first ones; what a rank reports, rank 0 reports too.
    lines.foreach(each => assert(each.toSet.subsetOf(lines.head.toSet)))
  }
}

object ConformanceSuite {

  /** The jars that the cases need on executors: the cases, and the libraries that they check with.
    */
  val jars: Seq[String] =
    Seq(
      classOf[ConformanceRank],
      classOf[Eventually],
      classOf[org.assertj.core.api.Assertions],
      classOf[org.junit.jupiter.api.Test],
      classOf[org.junit.jupiter.params.ParameterizedTest],
      classOf[org.opentest4j.AssertionFailedError],
      classOf[org.junit.platform.commons.JUnitException]
    ).map(each => Paths.get(each.getProtectionDomain.getCodeSource.getLocation.toURI).toString)
}

package org.sparkcollectives.spark

import org.apache.spark.SparkException
import org.scalatest.funsuite.AnyFunSuite

/** Tests the error for executors that do not have the jar. */
class MissingJarSuite extends AnyFunSuite with LocalCluster {

  override def executors: Int = 1

  // The tasks of the suite reach the executors, the library does not.
  override def settings: Map[String, String] =
    Map("spark.jars" -> System.getProperty("collectives.suite.jar"))

  test("the error names the missing class, and the next job runs") {
    val error = intercept[SparkException](Jobs.ranks(sc, 1)(Jobs.sum))
    val text = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).mkString("\n")
    assert(text.contains("org/sparkcollectives") || text.contains("org.sparkcollectives"), text)
    assert(text.contains("ClassNotFoundException") || text.contains("NoClassDefFoundError"), text)
    sc.addJar(System.getProperty("collectives.plugin.jar"))
    assert(sc.parallelize(0 until 2, 2).map(_ + 1).collect().sum == 3)
  }
}

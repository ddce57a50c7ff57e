package org.sparkcollectives.spark

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite

/** Spark's settings of Kryo, without a cluster. */
class SparkKryoSuite extends AnyFunSuite {

  private def copy(conf: SparkConf, value: AnyRef): AnyRef = {
    val codec = SparkKryo.codec(conf)
    val bytes = new ByteArrayOutputStream
    codec.write(value, bytes)
    codec.read(new ByteArrayInputStream(bytes.toByteArray))
  }

  private val strict = new SparkConf(false).set("spark.kryo.registrationRequired", "true")

  test("registration is required where the configuration says so") {
    assert(copy(new SparkConf(false), Some(Kilometres)) == Some(Kilometres))
    val error = intercept[Exception](copy(strict, JavaRow.of(1)))
    assert(error.getMessage.contains("Class is not registered: " + classOf[JavaRow].getName))
    val registered = strict.clone.set(
      "spark.kryo.classesToRegister",
      s"${classOf[JavaRow].getName},${java.util.List.of(1, 2).getClass.getName}"
    )
    assert(copy(registered, JavaRow.of(1)) == JavaRow.of(1))
  }
}

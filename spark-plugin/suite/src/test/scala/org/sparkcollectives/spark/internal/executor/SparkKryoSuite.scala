package org.sparkcollectives.spark.internal.executor

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

import com.esotericsoftware.kryo.Kryo
import org.apache.spark.SparkConf
import org.apache.spark.serializer.KryoRegistrator
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.`object`.JavaTypes
import org.sparkcollectives.spark.{JavaRow, Kilometres}

/** Tests Spark's settings of Kryo, without a cluster. */
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
    val registered = strict.clone.set("spark.kryo.registrator", classOf[JavaRowRegistrator].getName)
    assert(copy(registered, JavaRow.of(1)) == JavaRow.of(1))
  }
}

/** Kryo must know how to handle records before one is registered. */
class JavaRowRegistrator extends KryoRegistrator {

  override def registerClasses(kryo: Kryo): Unit = {
    JavaTypes.addTo(kryo)
    kryo.register(classOf[JavaRow])
    kryo.register(java.util.List.of(1, 2).getClass)
  }
}

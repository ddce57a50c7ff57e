package org.sparkcollectives.spark.internal.executor

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

import scala.collection.JavaConverters._

import com.esotericsoftware.kryo.{Kryo, KryoException}
import org.apache.spark.SparkConf
import org.apache.spark.serializer.KryoRegistrator
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.`object`.{
  JavaTypes,
  ObjectCodec,
  ObjectCodecState,
  ObjectSample,
  PlatformSamples,
  StateSamples
}
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

  private def samples: Seq[ObjectSample] =
    PlatformSamples.all.asScala.toSeq ++ StateSamples.all.asScala ++ ScalaSamples.all

  private def differences(codec: ObjectCodec, samples: Seq[ObjectSample]): String =
    ObjectCodecState.differences(codec, samples.asJava).asScala.mkString("\n")

  test("objects of the JDK, of Scala, of Spark and of users keep their state") {
    assert(differences(SparkKryo.codec(new SparkConf(false)), samples) == "")
  }

  test("objects keep their state where registration is required") {
    val all = samples
    assert(differences(new RegisteringCodec(all.map(_.`object`.getClass)), all) == "")
  }

  test("a user's class that extends a collection of Scala keeps its state, or is refused") {
    val basket = new Basket("fruit")
    basket += "apple"
    val copied =
      try {
        val read = copy(new SparkConf(false), Seq(basket)).asInstanceOf[Seq[Basket]].head
        read.label + read.toList
      } catch { case e: KryoException => e.getMessage.takeWhile(_ != ',') }
    // What Scala 2.13 serializes in place of a collection makes none but Scala's own classes.
    val serializable = scala.util.Properties.versionNumberString.startsWith("2.12")
    assert(
      copied == (if (serializable) "fruitList(apple)"
                 else classOf[Basket].getName + " cannot be sent")
    )
  }

  test("objects keep their state where references are not tracked") {
    val untracked = new SparkConf(false).set("spark.kryo.referenceTracking", "false")
    val sharing = Set(
      "an element in such a list and beside it",
      "a list of what is not serializable",
      "an object in its own queue",
      "an object in its own set and map",
      "adders in a tuple"
    )
    // Those of the JDK are compared with all that is one object in them.
    val trees =
      (StateSamples.all.asScala ++ ScalaSamples.all).filterNot(each => sharing(each.name)).toSeq
    assert(differences(SparkKryo.codec(untracked), trees) == "")
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

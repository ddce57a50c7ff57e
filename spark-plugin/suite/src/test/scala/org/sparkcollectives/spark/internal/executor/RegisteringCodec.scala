package org.sparkcollectives.spark.internal.executor

import java.io.{ByteArrayOutputStream, InputStream, OutputStream}

import scala.util.{Failure, Success, Try}

import com.esotericsoftware.kryo.Kryo
import com.esotericsoftware.kryo.serializers.JavaSerializer
import org.apache.spark.SparkConf
import org.apache.spark.serializer.KryoRegistrator
import org.sparkcollectives.`object`.{JavaTypes, ObjectCodec}

/** Requires classes to be registered, and registers each that is asked for, as a user would. */
class RegisteringCodec(expected: Seq[Class[_]]) extends ObjectCodec {

  RegisteringCodec.classes = expected.distinct
  private var codec = next()

  private def next(): ObjectCodec = SparkKryo.codec(
    new SparkConf(false)
      .set("spark.kryo.registrationRequired", "true")
      .set("spark.kryo.registrator", classOf[RegisteringCodec.Registrator].getName)
  )

  override def write(value: Object, stream: OutputStream): Unit = {
    val bytes = new ByteArrayOutputStream
    Try(codec.write(value, bytes)) match {
      case Success(_) => stream.write(bytes.toByteArray)
      case Failure(error) =>
        RegisteringCodec.missing(error) match {
          case Some(name) =>
            RegisteringCodec.register(name)
            codec = next()
            write(value, stream)
          case None => throw error
        }
    }
  }

  override def read(stream: InputStream): Object = codec.read(stream)
}

object RegisteringCodec {

  @volatile private var classes: Seq[Class[_]] = Nil

  private val NotRegistered = "(?s).*Class is not registered: ([^\n]+)\n.*".r

  private def missing(error: Throwable): Option[String] =
    Iterator
      .iterate(error)(_.getCause)
      .takeWhile(_ != null)
      .map(each => String.valueOf(each.getMessage))
      .collectFirst { case NotRegistered(name) => name }

  private def register(name: String): Unit = {
    val element = named(name.stripSuffix("[]"))
    val added =
      if (name.endsWith("[]")) java.lang.reflect.Array.newInstance(element, 0).getClass else element
    require(!classes.contains(added), s"$added is registered")
    classes :+= added
  }

  /** Kryo leaves out the package of boxed numbers. */
  private def named(name: String): Class[_] = {
    val full = if (name.contains('.')) name else s"java.lang.$name"
    Class.forName(full, false, getClass.getClassLoader)
  }

  class Registrator extends KryoRegistrator {
    override def registerClasses(kryo: Kryo): Unit = {
      JavaTypes.addTo(kryo)
      classes.foreach { each =>
        // Kryo cannot look into classes of the JDK's that Spark does not open.
        try kryo.register(each)
        catch { case _: IllegalArgumentException => kryo.register(each, new JavaSerializer) }
      }
    }
  }
}

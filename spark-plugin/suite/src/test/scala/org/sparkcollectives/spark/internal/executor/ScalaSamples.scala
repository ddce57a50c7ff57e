package org.sparkcollectives.spark.internal.executor

import java.util.concurrent.atomic.LongAdder

import scala.collection.JavaConverters._
import scala.collection.immutable
import scala.collection.mutable

import org.apache.spark.ml.linalg.{Matrices, Vectors}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericRowWithSchema, UnsafeProjection}
import org.apache.spark.sql.types._
import org.apache.spark.storage.StorageLevel
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}
import org.sparkcollectives.`object`.ObjectSample

/** Objects of Scala, of Spark, and of users' classes that extend Scala's. */
object ScalaSamples {

  private val backwards: Ordering[Int] = Ordering.Int.reverse

  def all: Seq[ObjectSample] = collections ++ vectorMap ++ users ++ rows

  private def sample[T](name: String, value: T)(behaviour: T => Any): ObjectSample =
    new ObjectSample(
      name,
      value,
      new java.util.function.Function[AnyRef, AnyRef] {
        override def apply(copy: AnyRef): AnyRef =
          behaviour(copy.asInstanceOf[T]).asInstanceOf[AnyRef]
      }
    )

  /** A collection whose class, elements and order count. */
  private def exact(name: String, value: Iterable[Any]): ObjectSample =
    sample(name, value)(copy => (copy.getClass.getName, copy.toString, copy == value))

  private def collections: Seq[ObjectSample] = Seq(
    exact("List", List(3, 1, 2)),
    exact("Vector", Vector(3, 1, 2)),
    exact("a long Vector", Vector.range(0, 2000)),
    exact("Nil", Nil),
    exact("Range", 1 to 9 by 2),
    exact("Queue", immutable.Queue(3, 1, 2)),
    exact("Set", Set(3, 1, 2)),
    exact("a larger Set", (1 to 50).toSet),
    exact("Map", Map("a" -> 1, "b" -> 2)),
    exact("a larger Map", (1 to 50).map(i => i -> s"$i").toMap),
    exact("ListMap", immutable.ListMap("b" -> 1, "a" -> 2)),
    exact("IntMap", immutable.IntMap(1 -> "a", 2 -> "b")),
    exact("LongMap", immutable.LongMap(1L -> "a", 2L -> "b")),
    exact("BitSet", immutable.BitSet(1, 70)),
    exact("Array in a Seq", Array(3, 1, 2).toSeq),
    exact("Array of objects in a Seq", Array("b", "a").toSeq),
    exact("ArrayBuffer", mutable.ArrayBuffer(3, 1, 2)),
    exact("ListBuffer", mutable.ListBuffer(3, 1, 2)),
    exact("mutable Queue", mutable.Queue(3, 1, 2)),
    exact("mutable HashMap", mutable.HashMap("a" -> 1, "b" -> 2)),
    exact("mutable LinkedHashMap", mutable.LinkedHashMap("b" -> 1, "a" -> 2)),
    exact("mutable LinkedHashSet", mutable.LinkedHashSet("b", "a")),
    exact("mutable HashSet", mutable.HashSet("b", "a")),
    exact("mutable BitSet", mutable.BitSet(1, 70)),
    exact("a String as a Seq", "abc".toSeq),
    exact("Option", Some(3).toList),
    sample("Iterator's rest", Vector(1, 2, 3).iterator.toList)(_.sum),
    sample("Either", Seq[Either[String, Int]](Left("a"), Right(2)))(_.toString),
    sample("SortedSet", immutable.TreeSet(1, 3, 2)(backwards))(copy => (copy + 4).toList),
    sample("SortedMap", immutable.TreeMap(1 -> "a", 2 -> "b")(backwards))(copy =>
      (copy + (3 -> "c")).toList
    ),
    sample("mutable SortedSet", mutable.TreeSet(1, 3, 2)(backwards)) { copy =>
      copy += 4; copy.toList
    },
    sample("PriorityQueue", mutable.PriorityQueue(1, 3, 2)(backwards)) { copy =>
      copy += 0
      Seq.fill(4)(copy.dequeue())
    },
    sample("a Map with a default", Map("a" -> 1).withDefaultValue(7))(copy => copy("x")),
    sample("a mutable Map with a default", mutable.Map("a" -> 1).withDefaultValue(7))(copy =>
      copy("x")
    ),
    sample("a Map as Java's", Map("a" -> 1, "b" -> 2).asJava)(copy => copy.toString),
    sample("a Seq as Java's", Seq(3, 1, 2).asJava)(copy => copy.toString),
    sample("a buffer as Java's", mutable.Buffer(3, 1, 2).asJava) { copy =>
      copy.add(4); copy.toString
    },
    sample("Java's as Scala's", new java.util.ArrayList(java.util.List.of(3, 1)).asScala)(copy =>
      (copy += 2).toString
    ),
    sample("Java's map as Scala's", new java.util.TreeMap(java.util.Map.of("a", 1)).asScala)(copy =>
      (copy += ("b" -> 2)).toList
    ),
    sample("BigDecimal", BigDecimal("1.10"))(copy => (copy, copy.scale)),
    sample("a BigDecimal with a context", BigDecimal("1.1", java.math.MathContext.DECIMAL32))(
      copy => (copy.mc, copy / 3)
    ),
    sample("a Regex", "a(b)".r)(copy => copy.findFirstMatchIn("xab").map(_.group(1))),
    sample("a Regex with names", new scala.util.matching.Regex("a(b)", "letter"))(copy =>
      copy.findFirstMatchIn("xab").map(_.group("letter"))
    ),
    sample("Symbol", Symbol("a"))(copy => copy eq Symbol("a")),
    sample("Enumeration", Weekdays.Tuesday)(copy => (copy eq Weekdays.Tuesday, copy.id)),
    sample("adders in a tuple", { val a = new LongAdder; a.add(4); (a, a) })(copy =>
      (copy._1.sum, copy._1 eq copy._2)
    )
  )

  /** A map in the order of insertion, which Scala 2.12 does not have. */
  private def vectorMap: Seq[ObjectSample] =
    try {
      val companion = Class.forName("scala.collection.immutable.VectorMap$")
      val empty = companion.getMethod("empty").invoke(companion.getField("MODULE$").get(null))
      Seq(exact("VectorMap", empty.asInstanceOf[Map[String, Int]] + ("b" -> 1) + ("a" -> 2)))
    } catch { case _: ClassNotFoundException => Nil }

  private def users: Seq[ObjectSample] = {
    val tally = new Tally
    tally.otherwise = 7
    tally.counts("a") = 1
    val factor = 3
    val local = new java.util.function.IntSupplier { override def getAsInt: Int = factor * 2 }
    Seq(
      sample("a class with a map", tally)(copy => (copy.otherwise, copy.counts("a"))),
      sample("a lazy value", new Lazy(3))(copy => copy.twice),
      sample("a local class", local)(_.getAsInt),
      sample("an object", Weekdays)(copy => copy eq Weekdays)
    )
  }

  private def rows: Seq[ObjectSample] = {
    val schema = StructType(
      Seq(
        StructField("id", IntegerType),
        StructField(
          "name",
          StringType,
          nullable = true,
          new MetadataBuilder().putLong("k", 1).build()
        )
      )
    )
    val unsafe = UnsafeProjection.create(schema)(InternalRow(7, UTF8String.fromString("x"))).copy()
    Seq(
      sample("Row", Row(1, "a", null, Seq(1, 2), Row(3)))(copy =>
        (copy.toSeq.toString, copy.getClass)
      ),
      sample("a row with a schema", new GenericRowWithSchema(Array(1, "a"), schema): Row)(copy =>
        (copy.getAs[String]("name"), copy.schema, copy.fieldIndex("id"))
      ),
      sample("InternalRow", InternalRow(1, UTF8String.fromString("a")))(copy =>
        (copy.getInt(0), copy.getUTF8String(1).toString)
      ),
      sample("UnsafeRow", unsafe)(copy =>
        (copy.getInt(0), copy.getUTF8String(1).toString, copy.hashCode)
      ),
      sample("UTF8String", UTF8String.fromString("abc").substring(1, 3))(copy => copy.toString),
      sample("StructType", schema)(copy =>
        (copy.getClass, copy.json, copy("name").metadata.getLong("k"))
      ),
      sample("ArrayType", ArrayType(MapType(StringType, DecimalType(5, 2))): DataType)(_.json),
      sample("Decimal", Decimal("1.10"))(copy => (copy.toString, copy.precision, copy.scale)),
      sample("CalendarInterval", new CalendarInterval(1, 2, 3))(copy => copy.toString),
      sample("a dense vector", Vectors.dense(1, 2, 3))(copy => (copy.toString, copy.getClass)),
      sample("a sparse vector", Vectors.sparse(4, Array(1, 3), Array(1.5, 2.5)))(copy =>
        (copy.toString, copy.getClass, copy(3))
      ),
      sample("a dense matrix", Matrices.dense(2, 2, Array(1, 2, 3, 4)).transpose)(copy =>
        (copy.toString, copy(0, 1), copy.getClass)
      ),
      sample("a sparse matrix", Matrices.sparse(2, 2, Array(0, 1, 2), Array(0, 1), Array(5, 6)))(
        copy => (copy.toString, copy(1, 1))
      ),
      sample("StorageLevel", StorageLevel.MEMORY_AND_DISK_SER_2)(copy => copy.description),
      sample(
        "a bloom filter", {
          val filter = org.apache.spark.util.sketch.BloomFilter.create(100)
          filter.putLong(7)
          filter
        }
      )(copy => (copy.mightContainLong(7), copy.mightContainLong(8)))
    )
  }
}

object Weekdays extends Enumeration {
  val Monday, Tuesday = Value
}

/** A buffer with a field. */
class Basket(val label: String) extends mutable.ArrayBuffer[String] {
  def this() = this("none")
}

/** A class with a map, and a variable. */
class Tally extends Serializable {
  var otherwise: Int = 0
  val counts: mutable.Map[String, Int] = mutable.HashMap.empty
}

/** A value that is computed where it is used. */
class Lazy(value: Int) extends Serializable {
  @transient lazy val twice: Int = 2 * value
}

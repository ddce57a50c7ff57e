package org.sparkcollectives.spark

import java.util.{List => JavaList}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.ObjectSerializationException

/** Tests objects of a user's job among its ranks; the job itself uses Java serialisation. */
class ObjectsSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName)

  private def ranks[R: scala.reflect.ClassTag](body: org.sparkcollectives.ProcessGroup => R) =
    Jobs.ranks(sc, 4)(body)

  test("case classes, options, tuples and collections of Scala arrive at all ranks") {
    val seen = ranks { world =>
      val mine = ObjectsSuite.trip(world.rank)
      val all = world.objects().allGather(mine).asScala.toList
      val first = world.objects().broadcast(if (world.rank == 2) mine else null, 2)
      (all, first, first.note.isEmpty && all.head.unit.eq(Kilometres))
    }
    val all = List.tabulate(4)(ObjectsSuite.trip)
    assert(seen == Seq.fill(4)((all, all(2), true)))
  }

  test("closures of Scala and Java arrive with what they capture") {
    val seen = ranks { world =>
      val factor = world.rank + 1
      val multiply: Int => Int = _ * factor
      val step = JavaRow.plus(world.rank)
      val functions = world.objects().allGather((multiply, step)).asScala
      functions.map { case (times, plus) => plus.applyAsInt(times(10)) }.toList
    }
    assert(seen == Seq.fill(4)(List(10, 21, 32, 43)))
  }

  test("records and unmodifiable collections of Java arrive") {
    val seen = ranks { world =>
      val rows = world.objects().gather(JavaRow.of(world.rank), 1)
      val mine = world.objects().scatter(rows, 1)
      val lists = world.objects().allGather(JavaList.of(mine, mine))
      lists.asScala.map(list => list.get(1).name -> list.get(1).more.asScala.toList).toList
    }
    val all = List.tabulate(4)(rank => s"row $rank" -> List(rank, rank + 1))
    assert(seen == Seq.fill(4)(all))
  }

  test("rows that a job brings go from rank to rank, and back to the driver") {
    val trips = Seq.tabulate(8)(ObjectsSuite.trip)
    val shifted = sc
      .parallelize(trips, 4)
      .barrier()
      .mapPartitions { rows =>
        val world = SparkCollectives.world()
        val parts = world.objects().allGather(rows.toVector)
        parts.get((world.rank + 1) % world.size).iterator
      }
      .collect()
      .toSeq
    assert(shifted == trips.drop(2) ++ trips.take(2))
  }

  test("objects larger than Spark's Kryo buffer pass") {
    val sums = ranks { world =>
      val mine = if (world.rank == 3) Array.fill(70 << 20)(1.toByte) else null
      world.objects().broadcast(mine, 3).foldLeft(0L)(_ + _)
    }
    assert(sums == Seq.fill(4)(70L << 20))
  }

  test("what cannot be serialised is told to all ranks, which go on") {
    val seen = ranks { world =>
      val mine = if (world.rank == 1) new Refusing else "fine"
      val message =
        try world.objects().allGather(mine).toString
        catch { case e: ObjectSerializationException => e.getMessage }
      (message, Jobs.sum(world))
    }
    for ((message, sum) <- seen) {
      assert(message.contains("rank 1 could not serialise"), message)
      assert(message.contains(classOf[Refusing].getName) && message.contains("not today"), message)
      assert(sum == 10)
    }
  }
}

/** Runs the same tests with rows and results of the job in Kryo, and a registrator of the user's.
  */
class KryoObjectsSuite extends ObjectsSuite {

  override def settings: Map[String, String] =
    super.settings ++ Map(
      "spark.serializer" -> "org.apache.spark.serializer.KryoSerializer",
      "spark.kryo.registrator" -> classOf[TripRegistrator].getName
    )

  test("the user's registrator counts") {
    val seen = Jobs.ranks(sc, 2) { world =>
      world.objects().broadcast(new Counted(7), 0)
      world.objects().allGather(new Counted(world.rank)).asScala.map(_.value).toList
    }
    // The serializer that the registrator sets adds 100 when it reads.
    assert(seen == Seq(List(0, 101), List(100, 1)))
  }
}

object ObjectsSuite {

  def trip(rank: Int): Trip =
    Trip(
      s"trip $rank",
      if (rank % 2 == 0) None else Some(rank),
      Seq(rank -> 1.5, rank -> 2.5),
      Map("stops" -> Vector(rank, 2)),
      Kilometres
    )
}

sealed trait DistanceUnit
case object Kilometres extends DistanceUnit

case class Trip(
    name: String,
    note: Option[Int],
    points: Seq[(Int, Double)],
    more: Map[String, Vector[Int]],
    unit: DistanceUnit
)

/** Kryo writes it by its own method, which refuses. */
class Refusing extends com.esotericsoftware.kryo.KryoSerializable {
  import com.esotericsoftware.kryo.Kryo
  import com.esotericsoftware.kryo.io.{Input, Output}

  override def write(kryo: Kryo, output: Output): Unit =
    throw new UnsupportedOperationException("not today")
  override def read(kryo: Kryo, input: Input): Unit = ()
}

class Counted(val value: Int)

class TripRegistrator extends org.apache.spark.serializer.KryoRegistrator {
  import com.esotericsoftware.kryo.{Kryo, Serializer}
  import com.esotericsoftware.kryo.io.{Input, Output}

  override def registerClasses(kryo: Kryo): Unit = {
    kryo.register(classOf[Trip])
    kryo.register(
      classOf[Counted],
      new Serializer[Counted] {
        override def write(kryo: Kryo, output: Output, counted: Counted): Unit =
          output.writeInt(counted.value)
        override def read(kryo: Kryo, input: Input, counted: Class[Counted]): Counted =
          new Counted(input.readInt() + 100)
      }
    )
  }
}

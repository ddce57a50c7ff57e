package org.sparkcollectives.spark

import java.time.Duration

import com.esotericsoftware.kryo.Kryo
import org.apache.spark.SparkException
import org.apache.spark.serializer.{KryoRegistrator, KryoSerializer}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{GroupOptions, ProcessGroup, ReduceOp, Tensor}
import org.sparkcollectives.DebugLevel

/** Tests the values that a user's functions carry to the executors, and the types of its rows, in
  * real jobs.
  */
abstract class SerializationSuite extends AnyFunSuite with LocalCluster {

  def serializer: Map[String, String]

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName) ++ serializer

  private val everyOption: GroupOptions = GroupOptions.defaults
    .withName("readings")
    .withDescription("a group of the suite")
    .withTimeout(Duration.ofSeconds(77))
    .withTransports("tcp")
    .withBackend("cpu:netty")
    .withDebugLevel(DebugLevel.DETAIL)

  test("a function may carry options, reductions, case classes, records and other functions") {
    val options = everyOption.withRanks(2, 0).withLocalSynchronization(true)
    val calibration = Calibration(2.5, List("a", "b"))
    val record = new Measurement("captured", 4)
    val twice: Int => Int = _ * 2
    val op = ReduceOp.MAX
    val seen = Jobs.ranks(sc, 4) { world =>
      val largest = Array(calibration.factor * twice(world.rank))
      world.allReduce(Tensor.of(largest: _*), op).await()
      (largest.head, calibration.names.mkString, record.sensor, SerializationJobs.text(options))
    }
    assert(seen.distinct == Seq((15.0, "ab", "captured", SerializationJobs.text(options))))
  }

  test("the world of a barrier stage is made with the options given") {
    val seen = BarrierStage
      .of(sc.parallelize(0 until 4, 4))
      .withOptions(everyOption)
      .mapPartitions(SerializationJobs.describe)
      .collect()
    assert(seen.size == 4)
    seen.forEach(each => assert(each == "readings, a group of the suite, PT1M17S, cpu:netty"))
  }

  test("the debug level given is that of the world") {
    val error = intercept[SparkException] {
      BarrierStage
        .of(sc.parallelize(0 until 4, 4))
        .withOptions(GroupOptions.defaults.withDebugLevel(DebugLevel.DETAIL))
        .mapPartitions(SerializationJobs.disagree)
        .collect()
    }
    assert(error.getMessage.contains("Ranks call different collectives"), error.getMessage)
  }

  test("members and local synchronisation are refused for a world, on the driver") {
    val stage = BarrierStage.of(sc.parallelize(0 until 4, 4))
    for (
      options <- Seq(
        everyOption.withRanks(0, 1),
        everyOption.withLocalSynchronization(true)
      )
    )
      assert(
        intercept[IllegalArgumentException](stage.withOptions(options)).getMessage
          .contains("is all its tasks")
      )
  }

  test("rows may be case classes and records, before a barrier stage, behind it and shuffled") {
    val rows = sc.parallelize((1 to 8).map(i => Reading(i, new Measurement(s"s$i", i / 2.0))), 4)
    val reduced = rows.repartition(4).barrier().mapPartitions { mine =>
      val world = SparkCollectives.world()
      val own = mine.toArray
      val sum = Array(own.map(_.measurement.value).sum)
      world.allReduce(Tensor.of(sum: _*), ReduceOp.SUM).await()
      own.iterator.map(row => row.copy(measurement = new Measurement("sum", sum.head)))
    }
    val shuffled = reduced.keyBy(_.id).repartition(2).values.collect()
    assert(shuffled.map(_.id).sorted.toSeq == (1 to 8))
    assert(shuffled.map(_.measurement).distinct.toSeq == Seq(new Measurement("sum", 18)))
  }

  test("options and reductions may be broadcast, and be rows") {
    val options = sc.broadcast(everyOption)
    val texts = sc
      .parallelize(Seq(everyOption, GroupOptions.defaults.withRanks(1, 0)), 2)
      .map(row => SerializationJobs.text(row) + SerializationJobs.text(options.value))
      .collect()
    assert(
      texts.toSeq == Seq(everyOption, GroupOptions.defaults.withRanks(1, 0))
        .map(SerializationJobs.text(_) + SerializationJobs.text(everyOption))
    )
    val back = sc.parallelize(Seq(ReduceOp.SUM, ReduceOp.premulSum(0.5)), 2).collect()
    assert(back.toSeq == Seq(ReduceOp.SUM, ReduceOp.premulSum(0.5)))
    assert(
      SerializationJobs.text(sc.parallelize(Seq(everyOption), 1).first()) ==
        SerializationJobs.text(everyOption)
    )
  }
}

class JavaSerializationSuite extends SerializationSuite {
  override def serializer: Map[String, String] = Map.empty
}

/** Runs with Kryo as most applications configure it: classes that are not registered are written by
  * name.
  */
class KryoSerializationSuite extends SerializationSuite {
  override def serializer: Map[String, String] = Map(
    "spark.serializer" -> classOf[KryoSerializer].getName,
    "spark.kryo.registrator" -> classOf[CollectivesKryoRegistrator].getName
  )
}

/** Runs with Kryo and every class registered. */
class KryoRegisteredSuite extends SerializationSuite {

  override def serializer: Map[String, String] = Map(
    "spark.serializer" -> classOf[KryoSerializer].getName,
    "spark.kryo.registrationRequired" -> "true",
    "spark.kryo.registrator" ->
      Seq(classOf[CollectivesKryoRegistrator], classOf[ReadingsRegistrator])
        .map(_.getName)
        .mkString(",")
  )

  test("a row of a class that is not registered is refused with the class's name") {
    val error = intercept[SparkException] {
      sc.parallelize(0 until 4, 4)
        .barrier()
        .mapPartitions(_ => Iterator(new Unregistered(SparkCollectives.world().rank)))
        .collect()
    }
    assert(error.getMessage.contains("Class is not registered"), error.getMessage)
    assert(error.getMessage.contains(classOf[Unregistered].getName), error.getMessage)
  }
}

case class Reading(id: Int, measurement: Measurement)

case class Calibration(factor: Double, names: List[String])

case class Unregistered(rank: Int)

class ReadingsRegistrator extends KryoRegistrator {
  override def registerClasses(kryo: Kryo): Unit = {
    kryo.register(classOf[Measurement])
    kryo.register(classOf[Reading])
    kryo.register(classOf[Array[Reading]])
    kryo.register(classOf[Array[GroupOptions]])
    kryo.register(classOf[Array[ReduceOp]])
  }
}

object SerializationJobs {

  def text(options: GroupOptions): String =
    Seq(
      options.name,
      options.description,
      options.timeout,
      options.transports,
      options.backend,
      options.debugLevel,
      options.ranks.mkString(","),
      options.localSynchronization
    ).mkString("; ")

  val describe: RankFunction[Int, String] = (world: ProcessGroup, _: java.util.Iterator[Int]) => {
    val told = Seq(world.name, world.description, world.timeout, world.backend).mkString(", ")
    java.util.Collections.singleton(told).iterator()
  }

  /** Rank 1 asks for the maximum, the others for the sum. */
  val disagree: RankFunction[Int, Int] = (world: ProcessGroup, _: java.util.Iterator[Int]) => {
    val value = Array(world.rank)
    val op = if (world.rank == 1) ReduceOp.MAX else ReduceOp.SUM
    world.allReduce(Tensor.of(value: _*), op).await()
    java.util.Collections.singleton(value.head).iterator()
  }
}

package org.sparkcollectives.spark

import java.net.ServerSocket
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration

import scala.util.{Random, Try}

import org.apache.spark.SparkEnv
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.Tensor
import org.sparkcollectives.spark.elastic.Replica
import org.sparkcollectives.store.{StoreException, TcpStore}
import org.sparkcollectives.net.TransportSecurity
import org.sparkcollectives.spark.internal.security.SparkSecurity

/** Tests that the protection that Spark's settings demand is in force between executors, with the
  * driver's store and without.
  */
abstract class EncryptionSuite(security: String) extends AnyFunSuite with LocalCluster {

  def protection: Map[String, String]

  private val port = EncryptionSuite.freePort()

  override def settings: Map[String, String] =
    protection ++ Map(
      "spark.collectives.transports" -> "heap,tcp",
      "spark.collectives.port" -> port.toString,
      "spark.task.maxFailures" -> "1000",
      "spark.authenticate" -> "true",
      "spark.authenticate.secret" -> "only for tests, and long enough"
    )

  private def check(store: String): Unit = {
    val seen = Jobs.ranks(sc, 4) { world =>
      val sum = Jobs.sum(world)
      val security = SparkSecurity.of(SparkEnv.get).toString
      val refusal = if (world.rank == 0) EncryptionSuite.knockInPlain() else ""
      world.barrier().await()
      (sum, security, world.store.toString, refusal)
    }
    assert(seen.map(_._1) == Seq(10, 10, 10, 10))
    assert(seen.map(_._2).toSet == Set(security))
    assert(seen.forall(_._3.contains(store)), seen.toString)
    assert(seen.head._4.contains("encrypts with TLS"), seen.head._4)
  }

  test("a store that a stage serves itself, collectives and messages are encrypted") {
    check("TcpStore")
  }

  test("collectives and messages of ranks that meet in the driver's store are encrypted") {
    SparkCollectives.install(sc)
    check("driver's store")
  }

  test("collectives of the replicas of an elastic stage are encrypted") {
    val refusal = ElasticStage
      .of(sc.parallelize(0 until 4, 4))
      .withMinReplicas(4)
      .run[String]((replica, _) => EncryptionSuite.knockInStep(replica))
    assert(refusal.contains("encrypts with TLS"), refusal)
  }
}

object EncryptionSuite {

  /** Returns a free port below those that the system assigns on request. */
  private def freePort(): Int =
    Iterator
      .continually(20000 + Random.nextInt(10000))
      .find(port => Try(new ServerSocket(port).close()).isSuccess)
      .get

  /** Returns how the port of the replicas answers while they take a step. */
  def knockInStep(replica: Replica): String = {
    replica.state("state", Tensor.of(0))
    replica.startQuorum()
    val refusal = knockInPlain()
    replica.shouldCommit()
    refusal
  }

  /** Returns how the ranks' port answers a client that does not encrypt. */
  def knockInPlain(): String = {
    val host = SparkEnv.get.blockManager.blockManagerId.host
    val port = SparkEnv.get.conf.get("spark.collectives.port").toInt
    val limit = Duration.ofSeconds(30)
    try {
      TcpStore.connect(host, port, "any".getBytes(UTF_8), TransportSecurity.plain(), limit).close()
      "let in"
    } catch { case e: StoreException => e.getMessage }
  }
}

package org.sparkcollectives.spark

import org.scalatest.funsuite.AnyFunSuite

/** Runs without `spark.plugins`, with our jar added to running executors, as in a notebook whose
  * session was there first.
  */
class InstalledLaterSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] = Map("spark.jars" -> "")

  override def beforeAll(): Unit = {
    super.beforeAll()
    LocalCluster.jars.foreach(sc.addJar)
  }

  test("without a driver's store, rank 0 serves one; once installed, the driver's is used") {
    assert(Jobs.ranks(sc, 4)(Jobs.sum) == Seq(10, 10, 10, 10))
    assert(Jobs.ranks(sc, 4)(_.store.toString).forall(_.contains("TcpStore")))
    Jobs.ranks(sc, 2)(CheckpointJobs.refusal).foreach { refusal =>
      assert(refusal.contains("could not reach the store of checkpoints"), refusal)
      assert(refusal.contains("SparkCollectives.install(sparkContext)"), refusal)
    }
    SparkCollectives.install(sc)
    SparkCollectives.install(sc)
    assert(Jobs.ranks(sc, 4)(Jobs.sum) == Seq(10, 10, 10, 10))
    assert(Jobs.ranks(sc, 4)(_.store.toString).forall(_.contains("driver's store")))
    eventually(s"no threads, but there are ${Jobs.threads(sc)}")(
      Jobs.threads(sc).values.forall(_.isEmpty)
    )
  }
}

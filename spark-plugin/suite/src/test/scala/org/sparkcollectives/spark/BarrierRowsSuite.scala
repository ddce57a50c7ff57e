package org.sparkcollectives.spark

import org.apache.spark.api.java.JavaRDD
import org.apache.spark.rdd.RDD
import org.scalatest.funsuite.AnyFunSuite

/** Barrier stages on rows in any partitions. */
class BarrierRowsSuite extends AnyFunSuite with LocalCluster {

  private def numbers(partitions: Int): RDD[Integer] =
    sc.parallelize(0 until 40, partitions).map(Int.box)

  /** Returns how many ranks there were, and the sum of their rows. */
  private def run(rows: RDD[Integer]): (Int, Int) = {
    val sums = BarrierRows.run[Integer, java.util.List[Int]](
      "test",
      rows.toJavaRDD(),
      (ranks: JavaRDD[Integer]) => BarrierStage.of(ranks).collect(SumOfRows)
    )
    var sum = 0
    sums.forEach(each => sum += each)
    (sums.size, sum)
  }

  private val layouts = Seq[(String, Int, Int, () => RDD[Integer])](
    ("partitions that fit", 3, 780, () => numbers(3)),
    ("more partitions than slots", 4, 780, () => numbers(7)),
    ("no partitions", 1, 0, () => sc.emptyRDD[Integer]),
    ("partitions without rows", 4, 0, () => numbers(4).filter(_ < 0)),
    ("coalesce", 2, 780, () => numbers(4).coalesce(2)),
    ("union", 4, 1560, () => numbers(2).union(numbers(2))),
    ("a union of more partitions than slots", 4, 1560, () => numbers(4).union(numbers(4)))
  )

  for ((name, ranks, sum, rows) <- layouts)
    test(s"rows behind $name are those of ranks") {
      assert(run(rows()) == ((ranks, sum)))
    }

  test("a failure of the job is thrown as it is, and the job is not run again") {
    var runs = 0
    val failure = intercept[IllegalStateException] {
      BarrierRows.run[Integer, Integer](
        "test",
        numbers(2).toJavaRDD(),
        (_: JavaRDD[Integer]) => {
          runs += 1
          throw new IllegalStateException("its own")
        }
      )
    }
    assert(failure.getMessage == "its own")
    assert(runs == 1)
  }
}

/** Sums the rows of a rank. */
private object SumOfRows extends RankFunction[Integer, Int] {

  override def call(
      world: org.sparkcollectives.ProcessGroup,
      rows: java.util.Iterator[Integer]
  ): java.util.Iterator[Int] = {
    var sum = 0
    rows.forEachRemaining(row => sum += row)
    java.util.List.of(sum).iterator()
  }
}

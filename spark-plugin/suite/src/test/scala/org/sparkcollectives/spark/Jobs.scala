package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths, StandardCopyOption}

import org.apache.spark.{SparkContext, SparkEnv, TaskContext}
import org.sparkcollectives.{
  CollectiveException,
  GroupOptions,
  PeerFailedException,
  ProcessGroup,
  ReduceOp,
  Tensor
}

/** The tasks of the suites. Apart from the suites, so that no task carries one along. */
object Jobs {

  /** Runs `body` as the ranks of a barrier stage, as a Scala program does. */
  def ranks[R: scala.reflect.ClassTag](
      sc: SparkContext,
      size: Int,
      options: GroupOptions = GroupOptions.defaults()
  )(body: ProcessGroup => R): Seq[R] =
    sc.parallelize(0 until size, size)
      .barrier()
      .mapPartitions(_ => Iterator(body(SparkCollectives.world(options))))
      .collect()
      .toSeq

  /** Returns the sum of all ranks' rank + 1, as each rank sees it. */
  def sum(world: ProcessGroup): Int = {
    val values = Array.fill(1000)(world.rank + 1)
    world.allReduce(Tensor.of(values: _*), ReduceOp.SUM).await()
    values.distinct match {
      case Array(value) => value
      case several      => throw new IllegalStateException(several.mkString(", "))
    }
  }

  /** Runs `body`, and writes what it threw into a file named after the rank. */
  def keepingFailure[R](folder: String, world: ProcessGroup)(body: => R): R =
    try body
    catch {
      case e: CollectiveException =>
        val kind = e match {
          case failed: PeerFailedException => failed.failure.kind.toString
          case other                       => other.getClass.getSimpleName
        }
        val cause = Option(e.getCause).map(_.getMessage).getOrElse("")
        write(folder, world.rank.toString, s"$kind\n${e.getMessage}\n$cause")
        throw e
    }

  /** Writes a file in one step: its reader reads it as soon as it exists. */
  def write(folder: String, name: String, text: String): Unit = {
    val unfinished = Files.writeString(Paths.get(folder, s".$name.part"), text)
    Files.move(unfinished, Paths.get(folder, name), StandardCopyOption.ATOMIC_MOVE)
  }

  /** Returns our threads in the JVM of each executor, by executor. */
  def threads(sc: SparkContext): Map[String, Set[String]] = {
    val slots = sc.defaultParallelism * 4
    sc.parallelize(0 until slots, slots)
      .map { _ =>
        SparkEnv.get.executorId -> ownThreads
      }
      .collect()
      .groupBy(_._1)
      .map { case (executor, found) => executor -> found.flatMap(_._2).toSet }
  }

  /** Returns our threads in this JVM. */
  def ownThreads: Set[String] =
    Thread.getAllStackTraces.keySet
      .toArray(Array.empty[Thread])
      .map(_.getName)
      .filter(_.startsWith("collectives-"))
      .toSet

  def read(folder: Path, rank: Int): String = Files.readString(folder.resolve(rank.toString))

  def taskContextIsBarrier: Boolean = TaskContext.get() != null
}

package org.sparkcollectives.spark

import java.nio.file.{Files, Path}
import java.util.concurrent.locks.LockSupport

import scala.collection.mutable.ListBuffer
import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.util.{Failure => Failed, Success, Try}

import org.apache.spark.SparkContext
import org.sparkcollectives.Failure
import org.sparkcollectives.faults.Outcome

/** Carries out one case from the driver, and judges its outcome. */
class ClusterFaultRun(sc: SparkContext, fault: ClusterFaultCase) extends Patience {

  import ClusterFaultRun._

  private val folder = Files.createTempDirectory("faulted")
  private val problems = ListBuffer.empty[String]
  private val text = new StringBuilder(fault.toString)

  /** The place where a rank ran. */
  private case class Place(executor: String, pid: String, task: Long, stage: Int)

  def problem: Option[String] =
    if (problems.isEmpty) None else Some(problems.mkString("; "))

  /** Returns what happened, for people. */
  def story: String = text.toString

  /** Runs the case, and returns the executor that did not survive. */
  def run(): Option[String] = {
    val job = start()
    eventually(s"all ranks are ready for $fault, and the job does not end: ${job.value}") {
      val ready = (0 until Size).count(rank => Files.exists(folder.resolve(s"ready-$rank")))
      if (ready < Size && job.isCompleted)
        throw new AssertionError(s"$fault: the job ends before all are ready: ${job.value}")
      ready == Size
    }
    val places = (0 until Size).map(place)
    val begun = strike(places)
    val executor = places(fault.victim).executor
    def lost(rank: Int) = fault.fault.hitsExecutor && places(rank).executor == executor
    def judge(): Unit =
      judgeRanks(begun, rank => rank == fault.victim || lost(rank), (0 until Size).filter(lost))
    def release(): Unit =
      if (fault.fault == ClusterFault.EXECUTOR_STOP)
        Signal.send(if (fault.resumes) "-CONT" else "-9", places(fault.victim).pid)
    def ended() = Try(Await.result(job.transform(end => Try(end)), Hang))
    val result = if (mayOutliveTheGroup) {
      judge()
      release()
      ended()
    } else {
      val end = ended()
      judge()
      release()
      end
    }
    result match {
      case Failed(_) =>
        problems += "the job has not ended"
        // Else it would keep the next case from its slots.
        sc.cancelAllJobs()
      case Success(end) => judgeJob(end, (0 until Size).filter(lost))
    }
    val dies = fault.fault == ClusterFault.EXECUTOR_KILL ||
      (fault.fault == ClusterFault.EXECUTOR_STOP && !fault.resumes)
    if (dies) Some(executor) else None
  }

  /** Returns whether an executor may stay stopped after the group is gone. Once all ranks have
    * closed the group, only Spark notices a stopped executor, after minutes.
    */
  private def mayOutliveTheGroup =
    fault.fault == ClusterFault.EXECUTOR_STOP && fault.phase == ClusterPhase.CLOSE

  private def start(): Future[Seq[String]] = {
    val path = folder.toString
    val fault = this.fault
    Future {
      sc.parallelize(0 until Size, Size)
        .barrier()
        .mapPartitions(_ => Iterator(new FaultedRank(fault, Path.of(path)).run()))
        .collect()
        .toSeq
    }
  }

  private def read(name: String, rank: Int): String =
    Files.readString(folder.resolve(s"$name-$rank"))

  private def place(rank: Int): Place = {
    val words = read("ready", rank).split(" ")
    Place(words(0), words(1), words(2).toLong, words(3).toInt)
  }

  /** Starts the phase, and hits the victim if it does not do so itself. Returns the time in
    * microseconds.
    */
  private def strike(places: Seq[Place]): Long = {
    val victim = places(fault.victim)
    val start = System.nanoTime()
    Files.writeString(folder.resolve("go"), "")
    if (fault.fault.isOwn) {
      eventually(s"$fault: the victim has struck")(
        Files.exists(folder.resolve(s"struck-${fault.victim}"))
      )
      return read("struck", fault.victim).toLong
    }
    LockSupport.parkNanos(fault.moment.toNanos - (System.nanoTime() - start))
    val begun = Outcome.now()
    fault.fault match {
      case ClusterFault.TASK_KILL =>
        sc.killTaskAttempt(victim.task, false, ClusterFault.TASK_KILL.words)
      case ClusterFault.EXECUTOR_KILL => Signal.send("-9", victim.pid)
      case ClusterFault.EXECUTOR_STOP => Signal.send("-STOP", victim.pid)
      case _                          => sc.cancelStage(victim.stage, "cancelled by the suite")
    }
    begun
  }

  private def judgeRanks(begun: Long, isVictim: Int => Boolean, lost: Seq[Int]): Unit =
    for (rank <- 0 until Size if !isVictim(rank))
      Try(eventually("it")(Files.exists(folder.resolve(s"outcome-$rank")))) match {
        case Failed(_) => problems += s"rank $rank has not ended its part"
        case Success(_) =>
          val outcome = Outcome.decode(read("outcome", rank))
          val millis = (outcome.micros - begun) / 1000.0
          text.append(
            f"%n  rank $rank after $millis%.0f ms: ${outcome.exception} ${outcome.kind} ${outcome.ranks}"
          )
          if (!allows(outcome, lost)) problems += s"rank $rank ended with $outcome"
      }

  /** Returns whether a rank that is no victim may end so. */
  private def allows(outcome: Outcome, lost: Seq[Int]): Boolean = {
    val names = (fault.victim +: lost).exists(outcome.names)
    def says(words: String) = outcome.message.contains(words)
    if (outcome.isWell) fault.phase == ClusterPhase.CLOSE
    else
      outcome.exception match {
        case "PeerFailedException" =>
          val kind = Failure.Kind.valueOf(outcome.kind)
          // After the first rank's deadline Spark ends the stage, before a slow machine's others have
          // reached theirs.
          val ended = fault.fault == ClusterFault.SLOW && fault.phase == ClusterPhase.RENDEZVOUS &&
            (kind == Failure.Kind.STAGE_STOPPED || kind == Failure.Kind.KILLED)
          ended || (fault.fault == ClusterFault.CANCEL || names) && fault.fault.mayBeCalled(kind)
        case "CollectiveTimeoutException" =>
          // Spark does not notice for minutes that an executor has stopped.
          if (fault.phase == ClusterPhase.RENDEZVOUS)
            fault.fault == ClusterFault.SLOW || fault.fault == ClusterFault.EXECUTOR_STOP
          else fault.fault == ClusterFault.SLOW && names
        case "GroupAbortedException" =>
          // There is no group yet, so nothing more is known than that Spark has ended the stage.
          (fault.fault == ClusterFault.CANCEL || fault.phase == ClusterPhase.RENDEZVOUS) &&
          says("was killed")
        case "StoreException" =>
          fault.phase == ClusterPhase.RENDEZVOUS && says("is over")
        case _ => false
      }
  }

  private def judgeJob(end: Try[Seq[String]], lost: Seq[Int]): Unit = end match {
    case Success(_) =>
      text.append("\n  the job succeeds")
      val mayBeWell = fault.phase == ClusterPhase.CLOSE
      if (!mayBeWell) problems += "the job has succeeded"
    case Failed(error) =>
      val first = error.getMessage.linesIterator.take(2).mkString(" ")
      text.append(s"\n  the job: ${first.take(300)}")
      // In a rendezvous the message lists the missing ranks.
      val named = (fault.victim +: lost).exists(rank =>
        s"rank $rank\\b|not arrived: \\[[^]]*\\b$rank\\b".r.findFirstIn(error.getMessage).isDefined
      )
      val words = fault.fault.words +: Seq("ExecutorLostFailure").filter(_ => mayOutliveTheGroup)
      if (!named && !words.exists(error.getMessage.contains(_)))
        problems += s"the job's error does not say what happened: ${error.getMessage}"
  }
}

object ClusterFaultRun {
  private val Size = ClusterFaultCase.SIZE

  /** A rank that has not ended by then hangs. */
  private val Hang = 60.seconds
}

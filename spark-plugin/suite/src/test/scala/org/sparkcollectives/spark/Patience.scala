package org.sparkcollectives.spark

import java.time.Duration
import java.util.concurrent.locks.LockSupport

/** Waits for what other processes are about to do. */
trait Patience {

  /** Waits until `condition` holds, for longer than a slow machine needs. */
  def eventually(what: => String)(condition: => Boolean): Unit = {
    val end = System.nanoTime() + Patience.Limit.toNanos
    while (!condition) {
      if (System.nanoTime() - end > 0)
        throw new AssertionError(s"not within ${Patience.Limit.getSeconds} s: $what")
      LockSupport.parkNanos(20000000)
    }
  }
}

object Patience {

  /** Executors took more than a minute to start on a machine with seven times its load. */
  private val Limit = Duration.ofMinutes(5)
}

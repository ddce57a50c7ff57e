package org.sparkcollectives.spark

import java.time.Duration
import java.util.concurrent.locks.LockSupport

/** Waits for what other processes are about to do. */
trait Patience {

  /** Waits until `condition` holds, for longer than a slow machine needs. */
  def eventually(what: => String)(condition: => Boolean): Unit = {
    val end = System.nanoTime() + Duration.ofSeconds(60).toNanos
    while (!condition) {
      if (System.nanoTime() - end > 0) throw new AssertionError(s"not within 60 s: $what")
      LockSupport.parkNanos(20000000)
    }
  }
}

package org.sparkcollectives.internal.engine;

import org.sparkcollectives.internal.liveness.Watchdog;
import org.sparkcollectives.internal.work.GroupMonitor;

/**
 * Polls one rank's group for the watchdog. Apart from the monitor, because that is below the queue
 * and knows nothing of it.
 *
 * @param monitor knows what is pending, and which peers have failed or left
 * @param queue of the group's collectives
 */
public record GroupPoll(GroupMonitor monitor, OperationQueue queue) implements Watchdog.Watched {

  @Override
  public void poll() {
    monitor.poll();
    queue.runNeglected();
  }

  @Override
  public void watchdogStuck(String what) {
    monitor.watchdogStuck(what);
  }

  @Override
  public String toString() {
    return monitor.toString();
  }
}

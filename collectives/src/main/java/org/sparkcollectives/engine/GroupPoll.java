package org.sparkcollectives.engine;

import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.internal.failure.Watchdog;

/**
 * Does what is due in one rank's group, when the watchdog polls it.
 *
 * @param monitor knows what is pending, and what has become of the peers
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

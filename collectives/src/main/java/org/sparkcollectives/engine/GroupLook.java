package org.sparkcollectives.engine;

import org.sparkcollectives.internal.failure.GroupLife;
import org.sparkcollectives.internal.failure.Watchdog;

/**
 * What the watchdog looks at in one rank's group.
 *
 * @param life what is pending, and what has become of the peers
 * @param channel what nobody runs
 */
public record GroupLook(GroupLife life, Channel channel) implements Watchdog.Watched {

  @Override
  public void look() {
    life.look();
    channel.runNeglected();
  }

  @Override
  public void watchdogStuck(String what) {
    life.watchdogStuck(what);
  }

  @Override
  public String toString() {
    return life.toString();
  }
}

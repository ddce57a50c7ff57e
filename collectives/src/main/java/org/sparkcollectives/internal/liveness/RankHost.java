package org.sparkcollectives.internal.liveness;

import java.util.concurrent.Executor;
import org.sparkcollectives.spi.RankContext;

/**
 * The resources that a rank's groups use.
 *
 * @param context what hosts the rank
 * @param background runs what may block
 * @param time what deadlines are measured with
 */
public record RankHost(RankContext context, Executor background, TimeSource time) {

  /** Creates a host that measures time with the clock of the JVM. */
  public RankHost(RankContext context, Executor background) {
    this(context, background, TimeSource.SYSTEM);
  }
}

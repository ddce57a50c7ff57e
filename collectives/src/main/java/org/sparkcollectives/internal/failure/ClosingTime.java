package org.sparkcollectives.internal.failure;

import java.time.Duration;
import org.sparkcollectives.internal.liveness.StoreSilence;

/**
 * The time that the close of a group may take, together with the groups made from it: they share
 * it, so that many groups wait no longer than one. For the store see {@link StoreSilence}.
 *
 * @param pending until pending operations are done
 * @param connections until peers have taken what was sent to them
 * @param threads until threads of the rank have left the group: its operations and its hooks
 */
public record ClosingTime(TimeBudget pending, TimeBudget connections, TimeBudget threads) {

  private static final Duration THREADS = Duration.ofSeconds(10);

  /**
   * Creates the time of a close that begins now.
   *
   * @param timeout for what peers must do, which is the group's timeout
   */
  public static ClosingTime of(Duration timeout) {
    return new ClosingTime(
        new TimeBudget(timeout), new TimeBudget(timeout), new TimeBudget(THREADS));
  }
}

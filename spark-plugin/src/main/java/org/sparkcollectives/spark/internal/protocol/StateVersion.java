package org.sparkcollectives.spark.internal.protocol;

import java.util.Comparator;

/**
 * Identifies the state of a replica. Replicas with the same version have the same bits: a step is
 * committed by the members of one quorum, and by others only in a later one.
 *
 * @param quorum the number of the quorum that committed the state, or that handed out the first
 *     state or a checkpoint; 0 if it is of no quorum yet
 * @param step the number of steps that have led to it
 */
public record StateVersion(long quorum, long step) implements Comparable<StateVersion> {

  /** The version of a replica that has just begun. */
  public static final StateVersion NONE = new StateVersion(0, 0);

  private static final Comparator<StateVersion> ORDER =
      Comparator.comparingLong(StateVersion::quorum).thenComparingLong(StateVersion::step);

  @Override
  public int compareTo(StateVersion other) {
    return ORDER.compare(this, other);
  }
}

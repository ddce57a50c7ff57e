package org.sparkcollectives;

import java.io.Serializable;

/**
 * Says when a rank came to one of the operations that no rank leaves before all have come. Of the
 * ranks of a group, the one whose duration is the shortest came last: this compares ranks without
 * comparing their clocks.
 *
 * @param sequence the number of the operation among the group's collectives
 * @param row which of the rows of {@link GroupStatistics#byOperation} counts it
 * @param durationNanos from the start of the operation on this rank to its end there
 * @param outsideNanos how long this rank has been outside of the operations of all its groups, from
 *     its first operation to the call of this one
 */
public record Arrival(long sequence, int row, long durationNanos, long outsideNanos)
    implements Serializable {}

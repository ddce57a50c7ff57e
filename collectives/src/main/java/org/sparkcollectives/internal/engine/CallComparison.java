package org.sparkcollectives.internal.engine;

import org.sparkcollectives.internal.debug.FingerprintCheck;
import org.sparkcollectives.internal.transport.Lane;
import org.sparkcollectives.spi.OperationSpec;

/**
 * Makes the ranks of a group compare their calls: {@link org.sparkcollectives.DebugLevel#DETAIL}.
 *
 * @param lane over which they do
 * @param check how they do
 */
public record CallComparison(Lane lane, FingerprintCheck check) {

  /**
   * Blocks until all ranks have sent what they call, in the operation's turn.
   *
   * @throws org.sparkcollectives.CollectiveMismatchException on every rank, if two ranks differ
   */
  void compare(OperationSpec spec, long sequenceNumber) {
    check.compare(
        lane,
        sequenceNumber,
        spec.call(lane.rank(), sequenceNumber),
        spec.sends(lane.size()),
        spec.receives(lane.size()));
  }

  /** Compares the calls of an operation that uses the lane for nothing else. */
  void compareAlone(OperationSpec spec, long sequenceNumber) {
    boolean done = false;
    try {
      compare(spec, sequenceNumber);
      done = true;
    } finally {
      if (!done) {
        lane.abandon();
      }
    }
  }
}

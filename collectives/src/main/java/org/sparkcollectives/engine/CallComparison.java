package org.sparkcollectives.engine;

import org.sparkcollectives.CallAgreement;
import org.sparkcollectives.debug.FingerprintCheck;
import org.sparkcollectives.internal.failure.OperationDescription;
import org.sparkcollectives.transport.Lane;

/**
 * Has the ranks of a group compare what they call: {@link org.sparkcollectives.DebugLevel#DETAIL}.
 *
 * @param lane over which they do
 * @param check how they do
 */
public record CallComparison(Lane lane, FingerprintCheck check) {

  /**
   * Blocks until all ranks have said what they call, in the turn of the operation.
   *
   * @throws org.sparkcollectives.CollectiveMismatchException on every rank, if two ranks differ
   */
  void compare(OperationDescription description, long sequenceNumber, CallAgreement agreement) {
    check.compare(
        lane,
        sequenceNumber,
        description.call(lane.rank(), sequenceNumber, agreement),
        agreement.sends(lane.size()),
        agreement.receives(lane.size()));
  }

  /** The same for an operation of which nothing else goes over the lane. */
  void compareAlone(
      OperationDescription description, long sequenceNumber, CallAgreement agreement) {
    boolean done = false;
    try {
      compare(description, sequenceNumber, agreement);
      done = true;
    } finally {
      if (!done) {
        lane.abandon();
      }
    }
  }
}

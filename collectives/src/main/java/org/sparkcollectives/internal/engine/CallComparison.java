package org.sparkcollectives.internal.engine;

import org.sparkcollectives.internal.debug.FingerprintCheck;
import org.sparkcollectives.internal.transport.Communicator;
import org.sparkcollectives.spi.OperationSpec;

/**
 * Makes the ranks of a group compare their calls: {@link org.sparkcollectives.DebugLevel#DETAIL}.
 *
 * @param communicator over which they do
 * @param check how they do
 */
public record CallComparison(Communicator communicator, FingerprintCheck check) {

  /**
   * Blocks until all ranks have sent what they call, in the operation's turn.
   *
   * @throws org.sparkcollectives.CollectiveMismatchException on every rank, if two ranks differ
   */
  void compare(OperationSpec spec, long sequenceNumber) {
    check.compare(
        communicator,
        sequenceNumber,
        spec.call(communicator.rank(), sequenceNumber),
        spec.sends(communicator.size()),
        spec.receives(communicator.size()));
  }

  /** Compares the calls of an operation that uses the communicator for nothing else. */
  void compareAlone(OperationSpec spec, long sequenceNumber) {
    boolean done = false;
    try {
      compare(spec, sequenceNumber);
      done = true;
    } finally {
      if (!done) {
        communicator.abandon();
      }
    }
  }
}

package org.sparkcollectives.internal.failure;

import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.LentTensorException;
import org.sparkcollectives.net.DescriptorsExhaustedException;
import org.sparkcollectives.spi.failure.Causes;

/**
 * Decides whose failure it is that something was thrown, wherever it was thrown: in a collective, a
 * message, a connection, or code that the group runs in the background.
 *
 * @param whose what has failed
 * @param rank the group rank that has failed, or to which the path is; -1 where it is this rank or
 *     is not known
 * @param cause what that rank has failed with
 */
record Blame(Whose whose, int rank, Throwable cause) {

  /** The part that failed. */
  enum Whose {
    /** This rank's own code, its tensors, or its process. */
    OWN,
    /** The tensor of another rank of this JVM, which this rank was using. */
    OTHER_RANK,
    /** The path to a peer, for a reason that may lie anywhere. */
    PATH,
    /** Some path, and which is not known. */
    SOME_PATH,
    /** A consequence of the failure that the group has already failed with. */
    CONSEQUENCE
  }

  /** Decides about what an operation of this rank, or a part of one, has thrown. */
  static Blame of(Throwable thrown) {
    if (thrown instanceof PeerFailedException) {
      return new Blame(Whose.CONSEQUENCE, -1, thrown);
    }
    if (thrown instanceof LentTensorException lent) {
      return new Blame(Whose.OTHER_RANK, lent.owner(), lent.getCause());
    }
    if (DescriptorsExhaustedException.explain(thrown)
        instanceof DescriptorsExhaustedException lack) {
      return new Blame(Whose.OWN, -1, lack);
    }
    if (thrown instanceof TransportException transport) {
      return transport.peer() >= 0
          ? ofPath(transport.peer(), transport)
          : new Blame(Whose.SOME_PATH, -1, transport);
    }
    return new Blame(Whose.OWN, -1, thrown);
  }

  /**
   * Decides about what a connection to {@code peer} was ended by. No peer can cause an {@link
   * Error}: that this process has no memory, or lacks a class, is its own failure, as is a lack of
   * file descriptors.
   */
  static Blame ofPath(int peer, Throwable thrown) {
    if (DescriptorsExhaustedException.explain(thrown)
        instanceof DescriptorsExhaustedException lack) {
      return new Blame(Whose.OWN, -1, lack);
    }
    return Causes.of(thrown)
        .filter(Error.class::isInstance)
        .findFirst()
        .map(error -> new Blame(Whose.OWN, -1, error))
        .orElseGet(() -> new Blame(Whose.PATH, peer, thrown));
  }
}

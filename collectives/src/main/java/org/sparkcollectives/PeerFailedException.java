package org.sparkcollectives;

/**
 * Thrown when another rank of the group failed, and with it the group. The {@link #getCause()
 * cause} is what that rank threw.
 */
public final class PeerFailedException extends CollectiveException {

  private final Failure failure;

  /** Creates an exception with the whole message and the record of the failed rank. */
  public PeerFailedException(String message, Failure failure) {
    super(message, new RemoteCause(failure.cause()));
    this.failure = failure;
  }

  /** Returns which rank failed, and why. */
  public Failure failure() {
    return failure;
  }
}

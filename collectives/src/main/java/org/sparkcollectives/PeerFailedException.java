package org.sparkcollectives;

/**
 * Another rank of the group failed, and with it the group. The {@link #getCause() cause} is what
 * that rank threw.
 */
public final class PeerFailedException extends CollectiveException {

  private final Failure failure;

  /** With the whole message and the record of the failed rank. */
  public PeerFailedException(String message, Failure failure) {
    super(message, new RemoteCause(failure.cause()));
    this.failure = failure;
  }

  /** Which rank failed, and why. */
  public Failure failure() {
    return failure;
  }
}

package org.sparkcollectives;

/** Another rank of the group failed, and with it the group. */
public final class PeerFailedException extends CollectiveException {

  private final Failure failure;

  /** With the whole message and the record of the failed rank. */
  public PeerFailedException(String message, Failure failure) {
    super(message);
    this.failure = failure;
  }

  /** Which rank failed, and why. */
  public Failure failure() {
    return failure;
  }
}

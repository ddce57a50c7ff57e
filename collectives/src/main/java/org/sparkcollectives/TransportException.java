package org.sparkcollectives;

/** A path to a peer could not be made, or broke; the message has the peer's rank and address. */
public final class TransportException extends CollectiveException {

  /** With what went wrong. */
  public TransportException(String message) {
    super(message);
  }

  /** With what went wrong and its cause. */
  public TransportException(String message, Throwable cause) {
    super(message, cause);
  }
}

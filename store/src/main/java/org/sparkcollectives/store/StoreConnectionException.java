package org.sparkcollectives.store;

/** The other side of a store cannot be reached, or was lost; the message has its address. */
public final class StoreConnectionException extends StoreException {

  /** With what went wrong. */
  public StoreConnectionException(String message) {
    super(message);
  }

  /** With what went wrong and its cause. */
  public StoreConnectionException(String message, Throwable cause) {
    super(message, cause);
  }
}

package org.sparkcollectives.store;

/** A store could not do what was asked; the message says which key and why. */
public class StoreException extends RuntimeException {

  /** With what went wrong. */
  public StoreException(String message) {
    super(message);
  }

  /** With what went wrong and its cause. */
  public StoreException(String message, Throwable cause) {
    super(message, cause);
  }
}

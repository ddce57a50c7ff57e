package org.sparkcollectives.store;

/** Thrown when a store cannot do what was asked. The message names the key and the reason. */
public class StoreException extends RuntimeException {

  /**
   * Creates the exception.
   *
   * @param message what went wrong
   */
  public StoreException(String message) {
    super(message);
  }

  /**
   * Creates the exception.
   *
   * @param message what went wrong
   */
  public StoreException(String message, Throwable cause) {
    super(message, cause);
  }
}

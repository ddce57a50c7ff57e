package org.sparkcollectives.store;

/**
 * Thrown when the other side of a store cannot be reached, or is lost. The message has its address.
 */
public final class StoreConnectionException extends StoreException {

  /**
   * Creates the exception.
   *
   * @param message what went wrong
   */
  public StoreConnectionException(String message) {
    super(message);
  }

  /**
   * Creates the exception.
   *
   * @param message what went wrong
   */
  public StoreConnectionException(String message, Throwable cause) {
    super(message, cause);
  }
}

package org.sparkcollectives.store;

/** Thrown when a value that a reply referred to is gone: its key was replaced or deleted. */
public final class ValueGoneException extends StoreException {

  /**
   * Creates the exception.
   *
   * @param message what is gone
   */
  public ValueGoneException(String message) {
    super(message);
  }
}

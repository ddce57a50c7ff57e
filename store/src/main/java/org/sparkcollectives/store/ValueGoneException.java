package org.sparkcollectives.store;

/** A value that a reply referred to is not there any more: its key was replaced or deleted. */
public final class ValueGoneException extends StoreException {

  /** With what is gone. */
  public ValueGoneException(String message) {
    super(message);
  }
}

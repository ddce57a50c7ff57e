package org.sparkcollectives;

/** Two ranks called different operations, or the same with different sizes; both are named. */
public final class CollectiveMismatchException extends CollectiveException {

  /** With a message that names both ranks and both calls. */
  public CollectiveMismatchException(String message) {
    super(message);
  }
}

package org.sparkcollectives;

/**
 * Thrown when an operation of a group failed. The message names the operation, the rank, and what
 * to do.
 */
public class CollectiveException extends RuntimeException {

  /** Creates an exception. */
  public CollectiveException(String message) {
    super(message);
  }

  /** Creates an exception with a cause. */
  public CollectiveException(String message, Throwable cause) {
    super(message, cause);
  }
}

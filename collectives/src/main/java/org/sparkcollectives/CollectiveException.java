package org.sparkcollectives;

/** An operation of a group failed; the message names the operation, the rank, and what to do. */
public class CollectiveException extends RuntimeException {

  /** With what went wrong. */
  public CollectiveException(String message) {
    super(message);
  }

  /** With what went wrong and its cause. */
  public CollectiveException(String message, Throwable cause) {
    super(message, cause);
  }
}

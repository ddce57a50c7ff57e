package org.sparkcollectives;

/**
 * Thrown when the group was aborted on this rank, for the reason that is the cause of this
 * exception.
 */
public final class GroupAbortedException extends CollectiveException {

  /** Creates an exception with what was aborted and why. */
  public GroupAbortedException(String message, Throwable cause) {
    super(message, cause);
  }
}

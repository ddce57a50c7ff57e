package org.sparkcollectives;

/** The group was aborted on this rank, which is the cause of this exception. */
public final class GroupAbortedException extends CollectiveException {

  /** With what was aborted and why. */
  public GroupAbortedException(String message, Throwable cause) {
    super(message, cause);
  }
}

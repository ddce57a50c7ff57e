package org.sparkcollectives;

/** The ways in which an operation ends, with c10d's codes. */
public enum WorkResult {
  /** The operation succeeded. */
  SUCCESS(0),
  /** Its deadline passed. */
  TIMEOUT(1),
  /** A peer or a path failed. */
  COMM_ERROR(2),
  /** The operation failed otherwise. */
  UNKNOWN(100);

  private final int code;

  WorkResult(int code) {
    this.code = code;
  }

  /** Returns the result that the exception of a work stands for; null is success. */
  public static WorkResult of(Throwable exception) {
    if (exception == null) {
      return SUCCESS;
    }
    if (exception instanceof CollectiveTimeoutException) {
      return TIMEOUT;
    }
    return exception instanceof CollectiveException ? COMM_ERROR : UNKNOWN;
  }

  /** Returns the number that stands for this result in dumps. */
  public int code() {
    return code;
  }
}

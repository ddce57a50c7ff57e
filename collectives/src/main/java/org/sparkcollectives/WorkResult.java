package org.sparkcollectives;

/** How an operation ended, with c10d's codes. */
public enum WorkResult {
  /** Well. */
  SUCCESS(0),
  /** Its deadline passed. */
  TIMEOUT(1),
  /** A peer or a path failed. */
  COMM_ERROR(2),
  /** Otherwise. */
  UNKNOWN(100);

  private final int code;

  WorkResult(int code) {
    this.code = code;
  }

  /** What the exception of a work amounts to; null is success. */
  public static WorkResult of(Throwable exception) {
    if (exception == null) {
      return SUCCESS;
    }
    if (exception instanceof CollectiveTimeoutException) {
      return TIMEOUT;
    }
    return exception instanceof CollectiveException ? COMM_ERROR : UNKNOWN;
  }

  /** The number that stands for this result in dumps. */
  public int code() {
    return code;
  }
}

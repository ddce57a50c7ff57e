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

  /** The number that stands for this result in dumps. */
  public int code() {
    return code;
  }
}

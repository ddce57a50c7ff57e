package org.sparkcollectives.gpu.nccl;

import org.sparkcollectives.CollectiveException;

/** Thrown when NCCL refuses a call, or cannot be used. */
public final class NcclException extends CollectiveException {

  private final int result;

  /** Creates the exception for a call that NCCL answered with an error. */
  NcclException(String message, int result) {
    super(message, null);
    this.result = result;
  }

  /** Creates the exception for a library that could not be called at all. */
  NcclException(String message, Throwable cause) {
    super(message, cause);
    this.result = -1;
  }

  /** Returns NCCL's {@code ncclResult_t}, or -1. */
  public int result() {
    return result;
  }
}

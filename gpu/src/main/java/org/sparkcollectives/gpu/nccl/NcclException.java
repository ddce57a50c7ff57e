package org.sparkcollectives.gpu.nccl;

import org.sparkcollectives.CollectiveException;

/** NCCL has refused a call, or cannot be used. */
public final class NcclException extends CollectiveException {

  private final int result;

  /** Of a call that NCCL answered with an error. */
  NcclException(String message, int result) {
    super(message, null);
    this.result = result;
  }

  /** Where NCCL could not be asked at all. */
  NcclException(String message, Throwable cause) {
    super(message, cause);
    this.result = -1;
  }

  /** NCCL's {@code ncclResult_t}, or -1. */
  public int result() {
    return result;
  }
}

package org.sparkcollectives.gpu.cuda;

import org.sparkcollectives.CollectiveException;

/** The CUDA driver has refused a call, or reports that something before has failed. */
public final class CudaException extends CollectiveException {

  private final int code;

  /**
   * Of a call that the driver answered with an error.
   *
   * @param call the driver's function
   * @param code the driver's {@code CUresult}
   * @param name its name and meaning
   */
  public CudaException(String call, int code, String name) {
    super(call + " failed: " + name + " (" + code + ")", null);
    this.code = code;
  }

  /** Where the driver could not be asked at all. */
  public CudaException(String message, Throwable cause) {
    super(message, cause);
    this.code = -1;
  }

  /** The driver's {@code CUresult}, or -1. */
  public int code() {
    return code;
  }
}

package org.sparkcollectives.gpu.cuda;

import org.sparkcollectives.CollectiveException;

/** The CUDA driver has refused a call, or reports that something before has failed. */
public final class CudaException extends CollectiveException {

  static final int OUT_OF_MEMORY = 2;

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

  /**
   * With words of one's own for what the driver has answered.
   *
   * @param code the driver's {@code CUresult}
   */
  CudaException(String message, int code) {
    super(message, null);
    this.code = code;
  }

  /** Where the driver could not be asked at all. */
  public CudaException(String message, Throwable cause) {
    super(message, cause);
    this.code = -1;
  }

  /** Whether the GPU, or the host, has not as much memory as was asked for. */
  public boolean isOutOfMemory() {
    return code == OUT_OF_MEMORY;
  }

  /** The driver's {@code CUresult}, or -1. */
  public int code() {
    return code;
  }
}

package org.sparkcollectives.gpu.cuda;

import org.sparkcollectives.CollectiveException;

/** Thrown when the CUDA driver refuses a call, or reports an earlier failure. */
public final class CudaException extends CollectiveException {

  static final int OUT_OF_MEMORY = 2;

  private final int code;

  /**
   * Creates the exception for a call that the driver answered with an error.
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
   * Creates the exception with its own message for an error of the driver.
   *
   * @param code the driver's {@code CUresult}
   */
  CudaException(String message, int code) {
    super(message, null);
    this.code = code;
  }

  /** Creates the exception for a driver that could not be called at all. */
  public CudaException(String message, Throwable cause) {
    super(message, cause);
    this.code = -1;
  }

  /** Returns whether the GPU, or the host, has less memory than was requested. */
  public boolean isOutOfMemory() {
    return code == OUT_OF_MEMORY;
  }

  /** Returns the driver's {@code CUresult}, or -1. */
  public int code() {
    return code;
  }
}

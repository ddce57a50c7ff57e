package org.sparkcollectives;

/**
 * A queue of a device's work, such as a CUDA stream. The device does the work in the order in which
 * it is enqueued, while the host goes on.
 */
public interface DeviceStream {

  /** Returns the device that does the work. */
  Device device();

  /**
   * Returns the handle by which the device's driver knows the queue, such as a {@code CUstream}; 0
   * is the device's default stream.
   */
  long handle();
}

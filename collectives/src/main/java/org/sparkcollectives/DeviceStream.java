package org.sparkcollectives;

/**
 * A queue of a device's work, such as a CUDA stream: what is put into it is done in order, while
 * the host goes on.
 */
public interface DeviceStream {

  /** The device whose work it is. */
  Device device();

  /** What the device's driver knows it by: a {@code CUstream}; 0 is the device's default stream. */
  long handle();
}

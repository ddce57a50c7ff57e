package org.sparkcollectives.gpu;

import java.lang.ref.Cleaner;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/**
 * A piece of a GPU's memory that was allocated here. Freed when somebody says so, at the latest
 * when nobody can reach it any more.
 */
final class DeviceMemory {

  private static final Cleaner CLEANER =
      Cleaner.create(
          body -> {
            Thread thread = new Thread(body, "collectives-device-memory");
            thread.setDaemon(true);
            return thread;
          });

  private final long address;
  private final Cleaner.Cleanable cleanable;

  private DeviceMemory(CudaDevice device, long address) {
    this.address = address;
    this.cleanable = CLEANER.register(this, () -> free(device, address));
  }

  /** New memory, of undefined content; none if {@code bytes} is 0. */
  static DeviceMemory allocate(CudaDevice device, long bytes) {
    if (bytes == 0) {
      return new DeviceMemory(device, 0);
    }
    long previous = device.enter();
    try {
      return new DeviceMemory(device, device.cuda().allocate(bytes));
    } finally {
      device.leave(previous);
    }
  }

  private static void free(CudaDevice device, long address) {
    if (address == 0) {
      return;
    }
    long previous = device.enter();
    try {
      device.cuda().free(address);
    } finally {
      device.leave(previous);
    }
  }

  long address() {
    return address;
  }

  /** Frees it, unless it is freed. */
  void free() {
    cleanable.clean();
  }
}

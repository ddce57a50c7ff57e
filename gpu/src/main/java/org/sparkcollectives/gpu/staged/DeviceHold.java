package org.sparkcollectives.gpu.staged;

import java.lang.ref.Cleaner;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.PinnedBuffer;

/**
 * Keeps a GPU's context for as long as there are buffers of it that somebody may still reach: with
 * the context their memory would go.
 */
final class DeviceHold implements AutoCloseable {

  private static final Cleaner CLEANER =
      Cleaner.create(
          body -> {
            Thread thread = new Thread(body, "collectives-staging-buffers");
            thread.setDaemon(true);
            return thread;
          });

  private final CudaDevice device;
  private int holders = 1;

  DeviceHold(CudaDevice device) {
    this.device = device;
  }

  /** Frees the buffer once no view of it is reachable. */
  void leave(PinnedBuffer buffer) {
    synchronized (this) {
      holders++;
    }
    buffer.closeWhenUnreachable(CLEANER, this::release);
  }

  private void release() {
    synchronized (this) {
      holders--;
      if (holders > 0) {
        return;
      }
    }
    device.close();
  }

  /** Lets go of the GPU, now or with the last buffer. */
  @Override
  public void close() {
    release();
  }
}

package org.sparkcollectives.gpu.kernel;

import java.util.OptionalLong;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.PinnedBuffer;

/**
 * Where {@link DeviceKernels#nanCheck} tells what it has found: a word that the GPU and the host
 * both reach. It stays as it is until {@link #clear}, over any number of checks.
 */
public final class NanReport implements AutoCloseable {

  private final PinnedBuffer word;

  /** One on which nothing is found. */
  public NanReport(CudaDevice device) {
    this.word = PinnedBuffer.allocate(device, Long.BYTES);
    clear();
  }

  /**
   * The index of an element that is not a number: any one of them, and of the last check that found
   * one. Empty if there is none, or if the checks are not done yet.
   */
  public OptionalLong index() {
    long found = word.buffer().getLong(0);
    return found == 0 ? OptionalLong.empty() : OptionalLong.of(found - 1);
  }

  /** Forgets what was found. No check may be under way. */
  public void clear() {
    word.buffer().putLong(0, 0);
  }

  long address() {
    return word.address();
  }

  /** Frees the word; no check may be under way. */
  @Override
  public void close() {
    word.close();
  }
}

package org.sparkcollectives.gpu.kernel;

import java.util.OptionalLong;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.PinnedBuffer;

/**
 * The result of {@link DeviceKernels#nanCheck}: a word that the GPU and the host both access. It
 * keeps its value until {@link #clear}, over any number of checks.
 */
public final class NanReport implements AutoCloseable {

  private final PinnedBuffer word;

  /** Creates a report that names no element. */
  public NanReport(CudaDevice device) {
    this.word = device.pin(Long.BYTES);
    clear();
  }

  /**
   * Returns the index of an element that is NaN: any one of the last check that found one. Empty if
   * there is none, or if the checks are not done yet.
   */
  public OptionalLong index() {
    long found = word.buffer().getLong(0);
    return found == 0 ? OptionalLong.empty() : OptionalLong.of(found - 1);
  }

  /** Clears the report. No check may be in progress. */
  public void clear() {
    word.buffer().putLong(0, 0);
  }

  long address() {
    return word.address();
  }

  /** Frees the word. No check may be in progress. */
  @Override
  public void close() {
    word.close();
  }
}

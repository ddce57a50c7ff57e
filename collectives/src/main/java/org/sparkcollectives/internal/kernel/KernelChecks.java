package org.sparkcollectives.internal.kernel;

import java.nio.ByteBuffer;
import java.util.Locale;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Refuses arguments that do not fit a kernel, before anything is written. */
final class KernelChecks {

  private KernelChecks() {}

  static void checkTensor(String role, HostTensor tensor, DType expected, long offset, long count) {
    if (tensor.dtype() != expected) {
      throw new IllegalArgumentException(
          "The " + role + " must be of " + expected.label() + ", but is " + tensor);
    }
    tensor.checkRange(offset, count);
  }

  static void checkSource(ByteBuffer source, DType dtype, int count) {
    long bytes = (long) count * dtype.bytes();
    if (bytes > source.remaining()) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%s x %,d takes %,d bytes, but %,d remain in the source",
              dtype.label(),
              count,
              bytes,
              source.remaining()));
    }
  }

  static void checkContributions(int contributions) {
    if (contributions < 1) {
      throw new IllegalArgumentException(
          "A reduction has at least one contribution, not " + contributions);
    }
  }
}

package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/** A copy of a tensor that a rank publishes; it ends early when the group fails. */
final class SharedCopy {

  /** The bytes that are copied between two polls, which takes far less than a millisecond. */
  private static final long PIECE_BYTES = 1 << 20;

  private SharedCopy() {}

  static void copy(SharedRegion region, HostTensor to, HostTensor from) {
    if (to.isSameMemoryAs(from)) {
      return;
    }
    long piece = PIECE_BYTES / to.dtype().bytes();
    for (long offset = 0; offset < to.count(); offset += piece) {
      to.copyFrom(offset, from, offset, Math.min(piece, to.count() - offset));
      region.check();
    }
  }
}

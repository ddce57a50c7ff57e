package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The segments in which a tensor travels along a chain of ranks, each of which has to receive one
 * before it can pass it on. The last rank waits for a segment of every link before its own, so long
 * segments cost time in a long chain; each segment is a message, so many of them do, too.
 *
 * @param bytes of each but the last
 * @param count how many there are
 */
record Segments(long bytes, long count) {

  private static final long SHORTEST_BYTES = 64 << 10;
  private static final long LONGEST_BYTES = 256 << 10;

  /**
   * The bytes that a link carries while a rank is busy with a message; by the default figures 4 KiB
   * over TCP and 2 KiB in shared memory.
   */
  private static final long BYTES_OF_OVERHEAD = 4 << 10;

  /** Returns those of a tensor of so many bytes; the same on all ranks. */
  static Segments of(int ranks, long bytes) {
    // The derivative of overhead * bytes / segment + links * segment / bandwidth is 0 here.
    double best = Math.sqrt((double) bytes * BYTES_OF_OVERHEAD / Math.max(1, ranks - 2));
    long segment =
        Long.highestOneBit((long) Math.max(SHORTEST_BYTES, Math.min(LONGEST_BYTES, best)));
    return new Segments(segment, Math.max(1, (bytes + segment - 1) / segment));
  }

  /** Returns the bytes that pass the links before the last one before that one has any. */
  long fill(int ranks, long tensor) {
    return (ranks - 2) * Math.min(bytes, tensor);
  }

  /** Returns the segment that begins at an element. */
  HostTensor at(HostTensor tensor, long offset) {
    long elements = Math.max(1, bytes / tensor.dtype().bytes());
    return tensor.slice(offset, Math.min(elements, tensor.count() - offset));
  }
}

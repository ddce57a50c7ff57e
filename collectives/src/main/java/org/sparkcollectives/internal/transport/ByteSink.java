package org.sparkcollectives.internal.transport;

import java.nio.ByteBuffer;

/** The outgoing end of a connection. Only one thread writes to it. */
public interface ByteSink extends StreamEnd {

  /**
   * The largest segment. As large as the receive buffers of the other side, small enough that the
   * bytes are still in the processor's cache when the system copies them.
   */
  int SEGMENT_BYTES = 128 * 1024;

  /** Writes bytes to a segment. */
  interface Filler {

    /**
     * Fills a buffer in native byte order, which need not become full, and may be smaller than what
     * was offered. There is room for a header and an element at least.
     */
    void fill(ByteBuffer segment);
  }

  /**
   * Sends one segment of up to {@code bytes} bytes, unless too many are still unsent.
   *
   * @param bytes at most {@link #SEGMENT_BYTES}
   * @return false if nothing was sent because the connection has enough to do
   */
  boolean offer(int bytes, Filler filler);

  /**
   * Moves what was offered as far as is possible without waiting.
   *
   * @return whether none of it needs this thread any more
   */
  boolean drain();
}

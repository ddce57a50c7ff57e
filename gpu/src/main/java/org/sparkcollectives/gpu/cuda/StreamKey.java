package org.sparkcollectives.gpu.cuda;

import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Identifies the stream that a piece of memory belongs to. A handle does not: the driver may give
 * the handle of a destroyed stream to a new one, which does not wait for the work left in the old
 * one.
 *
 * @param number distinguishes streams of a kind
 */
record StreamKey(Kind kind, long number) {

  enum Kind {
    DEFAULT,
    /** A stream that this library creates and destroys. */
    OWN,
    /**
     * A stream of another library, identified by an id that the driver gives to no other stream.
     */
    FOREIGN,
    /** A stream of another library under a driver that has no such ids. */
    UNKNOWN
  }

  static final StreamKey DEFAULT = new StreamKey(Kind.DEFAULT, 0);

  private static final AtomicLong OWN_STREAMS = new AtomicLong();

  /** Returns whether it distinguishes its stream from all others, including later ones. */
  boolean isKnown() {
    return kind != Kind.UNKNOWN;
  }

  /** Creates the key of a stream that is created now. */
  static StreamKey own() {
    return new StreamKey(Kind.OWN, OWN_STREAMS.getAndIncrement());
  }

  /**
   * Returns the key of a stream that another library has created. The device must be current on the
   * thread.
   */
  static StreamKey foreign(Cuda cuda, long handle) {
    OptionalLong id = cuda.streamId(handle);
    return id.isPresent()
        ? new StreamKey(Kind.FOREIGN, id.getAsLong())
        : new StreamKey(Kind.UNKNOWN, 0);
  }
}

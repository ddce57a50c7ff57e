package org.sparkcollectives.gpu.cuda;

import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Which stream a piece of memory belongs to. A handle does not tell: the driver may give that of a
 * stream that is gone to a new one, which does not wait for what is left in the old one.
 *
 * @param number tells streams of a kind apart
 */
record StreamKey(Kind kind, long number) {

  enum Kind {
    DEFAULT,
    /** Made here, and let go of here. */
    OWN,
    /** Of another library, by the number that the driver gives to no other stream. */
    FOREIGN,
    /** Of another library, and the driver has no such numbers. */
    UNKNOWN
  }

  static final StreamKey DEFAULT = new StreamKey(Kind.DEFAULT, 0);

  private static final AtomicLong OWN_STREAMS = new AtomicLong();

  /** Whether it tells its stream from all others, also those to come. */
  boolean isKnown() {
    return kind != Kind.UNKNOWN;
  }

  /** Of a stream that is made now. */
  static StreamKey own() {
    return new StreamKey(Kind.OWN, OWN_STREAMS.getAndIncrement());
  }

  /** Of a stream that another library has made. The device is that of the thread. */
  static StreamKey foreign(Cuda cuda, long handle) {
    OptionalLong id = cuda.streamId(handle);
    return id.isPresent()
        ? new StreamKey(Kind.FOREIGN, id.getAsLong())
        : new StreamKey(Kind.UNKNOWN, 0);
  }
}

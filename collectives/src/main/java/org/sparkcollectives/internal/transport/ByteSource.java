package org.sparkcollectives.internal.transport;

import java.nio.ByteBuffer;

/** The incoming end of a connection. Only one thread reads from it. */
public interface ByteSource extends StreamEnd {

  /** Reads bytes that were received. */
  interface Reader {

    /**
     * Returns how many bytes it wants, at least 1; by default as many as there are. It is offered
     * more only where they have been received already.
     */
    default long wanted() {
      return Long.MAX_VALUE;
    }

    /** Reads from a direct buffer in native byte order; what it leaves is offered again. */
    void read(ByteBuffer received);
  }

  /**
   * Lets {@code reader} read from the next buffer that was received.
   *
   * @return false if there is none now
   */
  boolean read(Reader reader);

  /** Returns whether {@link #read} would find something. Only the thread that reads may ask. */
  boolean hasBytes();

  /** Sets whether a thread waits for bytes that nobody wakes. */
  default void want(boolean now) {}
}

package org.sparkcollectives.internal.transport;

import java.nio.ByteBuffer;

/** Where the bytes of a connection come in. Only one thread reads. */
public interface ByteSource extends StreamEnd {

  /** Takes bytes out of what was received. */
  interface Reader {

    /** Reads from a direct buffer in native byte order; what it leaves is offered again. */
    void read(ByteBuffer received);
  }

  /**
   * Has {@code reader} read from the next buffer that was received.
   *
   * @return false if there is none now
   */
  boolean read(Reader reader);

  /** Returns whether {@link #read} would find something. Only the thread that reads may ask. */
  boolean hasBytes();

  /** Says whether a thread waits for bytes, where nobody wakes it. */
  default void want(boolean now) {}
}

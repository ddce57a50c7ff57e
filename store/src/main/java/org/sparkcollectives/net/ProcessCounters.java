package org.sparkcollectives.net;

import java.util.concurrent.atomic.LongAdder;

/** Counts what the library holds and sends in this process, over all its ranks. Thread-safe. */
public final class ProcessCounters {

  private static final LongAdder BYTES_SENT = new LongAdder();
  private static final LongAdder CONNECTIONS = new LongAdder();
  private static final LongAdder SHARED_BYTES = new LongAdder();

  private ProcessCounters() {}

  /** Counts bytes of tensors and messages that were written to sockets. */
  public static void sent(long bytes) {
    BYTES_SENT.add(bytes);
  }

  /** Counts a connection that was opened. */
  public static void connected() {
    CONNECTIONS.increment();
  }

  /** Counts a connection that was closed. */
  public static void disconnected() {
    CONNECTIONS.decrement();
  }

  /** Counts bytes of shared memory that were mapped; negative when they are unmapped. */
  public static void mapped(long bytes) {
    SHARED_BYTES.add(bytes);
  }

  /** Returns how many bytes were written to the connections between ranks. */
  public static long bytesSent() {
    return BYTES_SENT.sum();
  }

  /** Returns how many connections between ranks are open. */
  public static long connections() {
    return CONNECTIONS.sum();
  }

  /** Returns how many bytes of shared memory are mapped. */
  public static long sharedBytes() {
    return SHARED_BYTES.sum();
  }
}

package org.sparkcollectives.spark.internal.python;

import java.io.Closeable;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The connections that have not proven yet that they have the secret of a task. Their number is
 * bounded. At the limit, a new one displaces the oldest, so that someone who connects and sends
 * nothing keeps nobody out. Thread-safe.
 */
final class PendingHandshakes {

  /**
   * A handshake takes milliseconds; a connection that is younger than this may still be a worker's.
   */
  private static final long PROTECTED_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final int most;
  private final LongSupplier clock;
  private final Map<Closeable, Long> begun = new LinkedHashMap<>();

  /**
   * Creates an empty set.
   *
   * @param most the limit of connections at the same time
   * @param clock returns nanoseconds
   */
  PendingHandshakes(int most, LongSupplier clock) {
    this.most = most;
    this.clock = clock;
  }

  /**
   * Adds a connection, and closes the oldest if there are too many.
   *
   * @return false if there is no place for it, because all others are new, too
   */
  synchronized boolean add(Closeable connection) {
    long now = clock.getAsLong();
    if (begun.size() >= most) {
      Iterator<Map.Entry<Closeable, Long>> oldestFirst = begun.entrySet().iterator();
      Map.Entry<Closeable, Long> oldest = oldestFirst.next();
      if (now - oldest.getValue() < PROTECTED_NANOS) {
        return false;
      }
      PythonBridge.close(oldest.getKey());
      oldestFirst.remove();
    }
    begun.put(connection, now);
    return true;
  }

  /** Removes a connection that has proven itself, or failed to. */
  synchronized void remove(Closeable connection) {
    begun.remove(connection);
  }

  /** Closes all connections. */
  synchronized void closeAll() {
    begun.keySet().forEach(PythonBridge::close);
    begun.clear();
  }
}

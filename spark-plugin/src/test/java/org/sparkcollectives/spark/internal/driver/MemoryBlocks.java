package org.sparkcollectives.spark.internal.driver;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.ValueGoneException;

/** Blocks in memory that count what they keep, and can be made to wait or to have no space. */
final class MemoryBlocks implements Blocks {

  private final Map<Long, Map<Integer, byte[]>> values = new ConcurrentHashMap<>();
  private final AtomicInteger puts = new AtomicInteger();
  private final AtomicLong written = new AtomicLong();
  private final AtomicInteger fetches = new AtomicInteger();
  private final AtomicInteger mostFetches = new AtomicInteger();
  private volatile CountDownLatch gate = new CountDownLatch(0);
  private volatile int room = Integer.MAX_VALUE;

  /** Makes every piece that is put or fetched wait until {@link #open}. */
  void shut() {
    gate = new CountDownLatch(1);
  }

  void open() {
    gate.countDown();
  }

  /** Accepts so many more pieces, and refuses all further ones. */
  void roomFor(int pieces) {
    room = pieces == Integer.MAX_VALUE ? pieces : puts.get() + pieces;
  }

  int values() {
    return values.size();
  }

  /** Returns how many bytes were written in all. */
  long written() {
    return written.get();
  }

  /** Returns how many pieces were put. */
  int puts() {
    return puts.get();
  }

  @Override
  public void put(long value, int piece, ByteBuffer content) {
    int number = puts.incrementAndGet();
    awaitOpen();
    if (number > room) {
      throw new StoreException("no space left on device");
    }
    byte[] bytes = new byte[content.remaining()];
    content.duplicate().get(bytes);
    written.addAndGet(bytes.length);
    byte[] before =
        values.computeIfAbsent(value, unused -> new ConcurrentHashMap<>()).put(piece, bytes);
    if (before != null) {
      throw new AssertionError("piece " + piece + " of value " + value + " came twice");
    }
  }

  private void awaitOpen() {
    try {
      gate.await();
    } catch (InterruptedException e) {
      throw new StoreException("interrupted", e);
    }
  }

  @Override
  public byte[] read(long value, int piece) {
    byte[] bytes = values.getOrDefault(value, Map.of()).get(piece);
    if (bytes == null) {
      throw new ValueGoneException("piece " + piece + " of value " + value + " is gone");
    }
    return bytes.clone();
  }

  /** Reads a piece as another JVM would. */
  int fetch(long value, int piece, byte[] target, int offset) {
    mostFetches.accumulateAndGet(fetches.incrementAndGet(), Math::max);
    try {
      awaitOpen();
      byte[] bytes = read(value, piece);
      System.arraycopy(bytes, 0, target, offset, bytes.length);
      return bytes.length;
    } finally {
      fetches.decrementAndGet();
    }
  }

  /** How many pieces are fetched now. */
  int fetches() {
    return fetches.get();
  }

  /** How many pieces were fetched at once, at the most. */
  int mostFetches() {
    return mostFetches.get();
  }

  @Override
  public void remove(long value) {
    values.remove(value);
  }
}

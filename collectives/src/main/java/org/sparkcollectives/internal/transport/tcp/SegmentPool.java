package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.sparkcollectives.internal.transport.ByteSink;

/**
 * Direct memory that the connections of a JVM's ranks share: a connection takes a segment for the
 * bytes that it is about to read or write, and gives it back when they are out of it. Thread-safe,
 * without locks.
 *
 * <p>Segments are small or large. Small ones hold a message whose latency matters, and where
 * connections are encrypted a record. Large ones are limited: to an eighth of the JVM's direct
 * memory, and to 64 MiB. Where they run out, messages go through small ones, at the cost of more
 * system calls. There is always a small one for each connection that has bytes in it, 4 KiB, or 20
 * KiB where it is encrypted: ranks read from one peer at a time, so a connection that waited for
 * memory might wait for one that waits for it.
 *
 * <p>Some of those that were given back, less than 3 MiB, stay for the next that is taken. Each
 * thread has a place of its own for them as far as there are places, so that threads seldom meet.
 */
final class SegmentPool implements AutoCloseable {

  /** The size of a small segment where bytes are sent as they are. */
  static final int SMALL_BYTES = 4 * 1024;

  private static final long MOST_LARGE_BYTES = 64L * 1024 * 1024;

  /** Large segments may take the JVM's direct memory divided by this. */
  private static final int LARGE_SHARE = 8;

  /** A piece of memory, which only the thread that has taken it may use. */
  static final class Segment {
    private final ByteBuf memory;
    private final ByteBuffer bytes;

    private Segment(int size) {
      memory = ByteBufAllocator.DEFAULT.directBuffer(size, size);
      bytes = memory.internalNioBuffer(0, size).slice().order(ByteOrder.nativeOrder());
    }

    /** Returns its bytes, in native order; always the same buffer. */
    ByteBuffer bytes() {
      return bytes;
    }
  }

  private final int smallBytes;
  private final int mostLarge;
  private final AtomicInteger small = new AtomicInteger();
  private final AtomicInteger large = new AtomicInteger();
  private final Spares smallSpares = new Spares();
  private final Spares largeSpares = new Spares();
  private volatile boolean closed;

  /** Creates a pool for the direct memory of this JVM, with small segments of a size. */
  SegmentPool(int smallBytes) {
    this(smallBytes, mostLargeBytes(PlatformDependent.maxDirectMemory()));
  }

  /** Creates a pool whose large segments take up to {@code largeBytes}. */
  SegmentPool(int smallBytes, long largeBytes) {
    this.smallBytes = smallBytes;
    this.mostLarge = (int) (largeBytes / ByteSink.SEGMENT_BYTES);
  }

  /** Returns how many bytes of a JVM's direct memory large segments may take. */
  static long mostLargeBytes(long directMemory) {
    return Math.min(MOST_LARGE_BYTES, directMemory / LARGE_SHARE);
  }

  /**
   * Takes a segment, which must be given back once. Does not block.
   *
   * @param bytes how many bytes it is for; it may be smaller, but is never smaller than the lesser
   *     of this and the size of a small one
   * @return a segment whose buffer is empty and ends after {@code bytes} bytes at the most
   */
  Segment take(long bytes) {
    Segment taken = bytes > smallBytes ? takeLarge() : null;
    if (taken == null) {
      taken = takeSmall();
    }
    ByteBuffer buffer = taken.bytes.clear();
    buffer.limit((int) Math.min(bytes, buffer.capacity()));
    return taken;
  }

  private Segment takeLarge() {
    Segment spare = largeSpares.take();
    if (spare != null) {
      return spare;
    }
    if (large.incrementAndGet() > mostLarge) {
      large.decrementAndGet();
      return largeSpares.takeAny();
    }
    return make(ByteSink.SEGMENT_BYTES, large);
  }

  private Segment takeSmall() {
    Segment spare = smallSpares.take();
    if (spare != null) {
      return spare;
    }
    small.incrementAndGet();
    return make(smallBytes, small);
  }

  /** Makes a segment, which was counted. */
  private static Segment make(int bytes, AtomicInteger count) {
    boolean made = false;
    try {
      Segment segment = new Segment(bytes);
      made = true;
      return segment;
    } finally {
      if (!made) {
        count.decrementAndGet();
      }
    }
  }

  /** Gives a segment back. */
  void giveBack(Segment segment) {
    if (!spares(segment).put(segment)) {
      free(segment);
    }
    if (closed) {
      freeSpares();
    }
  }

  private Spares spares(Segment segment) {
    return isLarge(segment) ? largeSpares : smallSpares;
  }

  private boolean isLarge(Segment segment) {
    return segment.bytes.capacity() > smallBytes;
  }

  private void free(Segment segment) {
    segment.memory.release();
    (isLarge(segment) ? large : small).decrementAndGet();
  }

  /** Returns the size of all segments, in use or not. */
  long bytes() {
    return bytes(small.get(), large.get());
  }

  /** Returns the size of the segments that are in use; exact while none is taken or given back. */
  long bytesInUse() {
    return bytes() - bytes(smallSpares.count(), largeSpares.count());
  }

  private long bytes(int small, int large) {
    return (long) small * smallBytes + (long) large * ByteSink.SEGMENT_BYTES;
  }

  private void freeSpares() {
    for (Spares spares : new Spares[] {smallSpares, largeSpares}) {
      for (Segment each = spares.takeAny(); each != null; each = spares.takeAny()) {
        free(each);
      }
    }
  }

  /** Frees what is here now, and from then on what is given back. */
  @Override
  public void close() {
    closed = true;
    freeSpares();
  }

  /** Some segments of one size that nobody uses. */
  private static final class Spares {

    /** Few: what is not here comes from Netty's pool, which is not much slower. */
    private static final int PLACES = 16;

    /**
     * The number of places at which a thread looks before it has a segment made. If it looked at
     * all, threads would take what others have put, and move memory between processors.
     */
    private static final int NEAR = 2;

    /** The distance of two places in the array, which keeps them in different cache lines. */
    private static final int SPACING = 16;

    private final AtomicReferenceArray<Segment> places =
        new AtomicReferenceArray<>(PLACES * SPACING);

    /** Returns one from where this thread has probably put it; null if there is none. */
    Segment take() {
      return take(NEAR);
    }

    /** Returns one from anywhere; null if there is none. */
    Segment takeAny() {
      return take(PLACES);
    }

    private Segment take(int lookedAt) {
      int home = home();
      for (int i = 0; i < lookedAt; i++) {
        int place = place(home + i);
        if (places.get(place) != null) {
          Segment taken = places.getAndSet(place, null);
          if (taken != null) {
            return taken;
          }
        }
      }
      return null;
    }

    /** Returns false if there is no place. */
    boolean put(Segment segment) {
      int home = home();
      for (int i = 0; i < PLACES; i++) {
        int place = place(home + i);
        if (places.get(place) == null && places.compareAndSet(place, null, segment)) {
          return true;
        }
      }
      return false;
    }

    int count() {
      int count = 0;
      for (int i = 0; i < PLACES; i++) {
        count += places.get(place(i)) == null ? 0 : 1;
      }
      return count;
    }

    private static int home() {
      return (int) Thread.currentThread().getId();
    }

    private static int place(int number) {
      return (number & (PLACES - 1)) * SPACING;
    }
  }
}

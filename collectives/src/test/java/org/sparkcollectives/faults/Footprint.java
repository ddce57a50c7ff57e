package org.sparkcollectives.faults;

import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The resources that this process holds. Linux only.
 *
 * @param heap bytes that are reachable
 * @param netty bytes of direct memory in Netty's pools
 * @param direct bytes of all direct buffers
 * @param mapped bytes of all mapped files
 * @param descriptors of files and sockets
 * @param threads that live
 */
record Footprint(long heap, long netty, long direct, long mapped, int descriptors, int threads) {

  private static final int MOST_COLLECTIONS = 20;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Returns the present footprint, after collections that have freed all that they could. */
  static Footprint now() throws IOException {
    long heap = collected();
    for (int i = 0; i < MOST_COLLECTIONS; i++) {
      // Objects that waited for their finalisation are freed by one of the next collections.
      LockSupport.parkNanos(PAUSE_NANOS);
      long next = collected();
      if (next >= heap && i > 1) {
        break;
      }
      heap = Math.min(heap, next);
    }
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return new Footprint(
          heap,
          PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory(),
          pool("direct"),
          pool("mapped"),
          (int) open.count(),
          ManagementFactory.getThreadMXBean().getThreadCount());
    }
  }

  private static long collected() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static long pool(String name) {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(each -> each.getName().equals(name))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  /** Returns the text that {@link #decode} reads. */
  String encode() {
    return heap + " " + netty + " " + direct + " " + mapped + " " + descriptors + " " + threads;
  }

  static Footprint decode(String text) {
    String[] words = text.split(" ", -1);
    return new Footprint(
        Long.parseLong(words[0]),
        Long.parseLong(words[1]),
        Long.parseLong(words[2]),
        Long.parseLong(words[3]),
        Integer.parseInt(words[4]),
        Integer.parseInt(words[5]));
  }
}

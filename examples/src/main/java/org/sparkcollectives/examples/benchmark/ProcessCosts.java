package org.sparkcollectives.examples.benchmark;

import com.sun.management.OperatingSystemMXBean;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.management.ManagementFactory;
import org.sparkcollectives.net.ProcessCounters;

/**
 * What this JVM has used and holds.
 *
 * @param cpuNanos the processor time so far
 * @param connections the open ends of connections between ranks
 * @param directBytes the direct memory of Netty's allocator
 */
record ProcessCosts(long cpuNanos, long connections, long directBytes) {

  /** Nothing, for the ranks of a process for which another one speaks. */
  static final ProcessCosts NONE = new ProcessCosts(0, 0, 0);

  static ProcessCosts now() {
    return new ProcessCosts(cpu(), ProcessCounters.connections(), direct());
  }

  private static long cpu() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  /** Returns what buffers take; or, of an allocator that does not know it, its pieces of memory. */
  private static long direct() {
    ByteBufAllocator allocator = ByteBufAllocator.DEFAULT;
    if (allocator instanceof PooledByteBufAllocator pooled) {
      return pooled.pinnedDirectMemory();
    }
    return allocator instanceof ByteBufAllocatorMetricProvider provider
        ? provider.metric().usedDirectMemory()
        : 0;
  }

  /** Returns the processor time and the connections since a moment, and the memory of now. */
  ProcessCosts since(long cpuNanosThen, long connectionsThen) {
    return new ProcessCosts(cpuNanos - cpuNanosThen, connections - connectionsThen, directBytes);
  }
}

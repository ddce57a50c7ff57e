package org.sparkcollectives;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.CyclicBarrier;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.RankThreads;

/**
 * Runs some of the ranks of a large world, as threads of a process: they meet, reduce and leave.
 */
final class ManyRanks {

  private static final int COUNT = 256;

  private ManyRanks() {}

  /**
   * Runs the ranks. Arguments: the first rank, the one after the last, the size of the world, the
   * URL.
   */
  public static void main(String[] args) {
    int first = Integer.parseInt(args[0]);
    int here = Integer.parseInt(args[1]) - first;
    int size = Integer.parseInt(args[2]);
    // Shared memory would cost a file and regular polling for each of the thousands of pairs.
    GroupOptions options = GroupOptions.defaults().withName("many").withTransports("heap", "tcp");
    CyclicBarrier together = new CyclicBarrier(here);
    long[] files = new long[2];
    RankThreads.run(
        here,
        index -> {
          try (ProcessGroup world = Rendezvous.join(args[3], first + index, size, options)) {
            if (together.await() == 0) {
              files[0] = openFiles();
            }
            together.await();
            world.barrier().await();
            float[] data = new float[COUNT];
            Arrays.fill(data, first + index);
            world.allReduce(Tensor.of(data), ReduceOp.SUM).await();
            if (data[0] != size * (size - 1) / 2f || data[COUNT - 1] != data[0]) {
              throw new AssertionError("rank " + (first + index) + " has " + data[0]);
            }
            if (together.await() == 0) {
              files[1] = openFiles();
            }
            together.await();
          }
          return null;
        });
    System.out.println("files " + (files[1] - files[0]));
    Eventually.holds(() -> ownThreads() == 0, () -> ownThreads() + " threads are left");
    System.out.println("parted");
  }

  /** Returns how many files, sockets and selectors this process has open. */
  private static long openFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getOpenFileDescriptorCount()
        : 0;
  }

  private static long ownThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("collectives-"))
        .count();
  }
}

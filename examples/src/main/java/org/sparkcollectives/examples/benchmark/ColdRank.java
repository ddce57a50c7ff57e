package org.sparkcollectives.examples.benchmark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;

/**
 * One rank in a JVM of its own that {@link ColdStart} forks: joins, calls small all-reduces, and
 * tells what the process had used at each milestone. It has no option parser, so that what it loads
 * is the library's.
 */
final class ColdRank {

  /** The figures behind the milestones: the compiler threads' nanoseconds, and loaded classes. */
  static final int TOTALS = 2;

  private ColdRank() {}

  /**
   * Runs the rank. Arguments: the port of the store, rank, size, number of calls, transports
   * separated by commas, and settings as {@code key=value}.
   */
  public static void main(String[] args) throws Exception {
    final long started = cpuNanos();
    // An executor has its logging before it has a task.
    LoggerFactory.getLogger(ColdRank.class);
    final long logging = cpuNanos();
    int rank = Integer.parseInt(args[1]);
    int size = Integer.parseInt(args[2]);
    int calls = Integer.parseInt(args[3]);
    List<String> transports = args[4].isEmpty() ? List.of() : List.of(args[4].split(",", -1));
    Map<String, String> values = new TreeMap<>();
    for (int i = 5; i < args.length; i++) {
      int equals = args[i].indexOf('=');
      values.put(args[i].substring(0, equals), args[i].substring(equals + 1));
    }
    GroupSettings settings = new GroupSettings(transports, values);
    try (Store store =
        TcpStore.connect("127.0.0.1", Integer.parseInt(args[0]), Duration.ofMinutes(5))) {
      List<Integer> milestones = ColdStart.milestones(calls);
      ByteBuffer report = ByteBuffer.allocate(8 * (3 + milestones.size() + 1 + TOTALS));
      report.putLong(started).putLong(logging);
      ProcessGroup group =
          HostedGroups.create(store, rank, size, settings.options(), settings.context());
      try {
        report.putLong(cpuNanos());
        float[] sum = new float[1];
        int done = 0;
        for (int milestone : milestones) {
          for (; done < milestone; done++) {
            sum[0] = rank;
            group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
            if (sum[0] != size * (size - 1) / 2f) {
              throw new IllegalStateException("Call " + done + " returned " + sum[0]);
            }
          }
          report.putLong(cpuNanos());
        }
      } finally {
        group.close();
      }
      report.putLong(cpuNanos());
      report.putLong(compilerNanos());
      report.putLong(ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount());
      store.set(ColdStart.key(rank), report.array());
    }
  }

  /** Returns the processor time of this process, without loading JMX. */
  private static long cpuNanos() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
  }

  /** Returns the processor time of the threads that compile; -1 where the system does not say. */
  private static long compilerNanos() throws IOException {
    Path tasks = Path.of("/proc/self/task");
    if (!Files.isDirectory(tasks)) {
      return -1;
    }
    long nanos = 0;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        try {
          String name = Files.readString(thread.resolve("comm"));
          if (name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler")) {
            String[] times = Files.readString(thread.resolve("schedstat")).trim().split(" ", -1);
            nanos += Long.parseLong(times[0]);
          }
        } catch (NoSuchFileException e) {
          // It has ended.
        }
      }
    }
    return nanos;
  }
}

package org.sparkcollectives.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.RankThreads;

/**
 * A process with one rank or several, with the settings that a user has who sets nothing. It prints
 * where it is:
 *
 * <pre>
 *   process ID               its process id
 *   rank-R TEXT              how many ranks rank R takes to be on its host, how it reaches the
 *                            others, and whether an algorithm could first work within a host
 *   memory COUNT             how many pieces of shared memory it has mapped after all-reduces
 * </pre>
 *
 * <p>It fails if a sum is wrong.
 */
final class PodRank {

  private static final int COUNT = 1 << 18;
  private static final String NO_INNER_LEVEL = "needs nodes of several ranks";

  private PodRank() {}

  /**
   * Runs the process, which ends by itself.
   *
   * @param arguments the URL up to the rank, the first rank of this process, and how many it has
   */
  public static void main(String[] arguments) {
    int first = Integer.parseInt(arguments[1]);
    System.out.println("process\t" + ProcessHandle.current().pid());
    RankThreads.run(
        Integer.parseInt(arguments[2]),
        each -> {
          run(arguments[0] + (first + each), each == 0);
          return null;
        });
  }

  private static void run(String url, boolean looks) throws IOException {
    GroupOptions options = GroupOptions.defaults().withTimeout(FaultSettings.PATIENCE);
    try (ProcessGroup world = Rendezvous.join(url, options)) {
      Tensor allocated = world.allocate(DType.FLOAT32, COUNT);
      for (int round = 1; round <= 3; round++) {
        reduce(world, Tensor.of(new float[1]), round);
        reduce(world, Tensor.of(new float[COUNT]), round);
        reduce(world, allocated, round);
      }
      GroupStatistics.Paths paths = world.statistics().paths();
      System.out.printf(
          Locale.ROOT,
          "rank-%d\t%d here, heap %d, shm %d, tcp %d, %s%n",
          world.rank(),
          world.localSize(),
          paths.heap(),
          paths.sharedMemory(),
          paths.tcp(),
          world.explain().toString().contains(NO_INNER_LEVEL) ? "one level" : "two levels");
      world.barrier().await();
      if (looks) {
        System.out.println("memory\t" + mapped());
      }
      // No rank leaves while another still looks.
      world.barrier().await();
    }
  }

  private static void reduce(ProcessGroup world, Tensor tensor, int round) {
    float[] values = new float[Math.toIntExact(tensor.count())];
    Arrays.fill(values, round * (world.rank() + 1));
    tensor.copyFrom(values);
    world.allReduce(tensor, ReduceOp.SUM).await();
    tensor.copyTo(values);
    float sum = round * IntStream.rangeClosed(1, world.size()).sum();
    for (int i = 0; i < values.length; i++) {
      if (values[i] != sum) {
        throw new IllegalStateException("element " + i + " is " + values[i] + ", not " + sum);
      }
    }
  }

  private static long mapped() throws IOException {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(each -> each.contains("/dev/shm/spark-collectives-")).count();
    }
  }
}

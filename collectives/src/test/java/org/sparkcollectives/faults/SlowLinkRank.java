package org.sparkcollectives.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.Iterator;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.CollectivesConfiguration;

/**
 * A process that is one of two ranks, with the settings that a user has who sets nothing but the
 * secret. It does what its input says, and prints:
 *
 * <pre>
 *   reduce COUNT ROUNDS        all-reduces of so many floats
 *                  took MICROS     the median
 *   cut            all-reduces until one fails
 *                  ended OUTCOME   what it threw
 *                  closed MICROS   when everything was released
 * </pre>
 *
 * <p>It fails if a sum is wrong.
 */
final class SlowLinkRank {

  private SlowLinkRank() {}

  /**
   * Runs the process.
   *
   * @param arguments the URL
   */
  public static void main(String[] arguments) {
    Iterator<String> commands =
        new BufferedReader(new InputStreamReader(System.in, UTF_8)).lines().iterator();
    System.setProperty(CollectivesConfiguration.RENDEZVOUS_SECRET.key(), "of these ranks alone");
    GroupOptions options = GroupOptions.defaults().withTimeout(FaultSettings.PATIENCE);
    try (ProcessGroup world = Rendezvous.join(arguments[0], options)) {
      System.out.println("joined\t" + world.localSize());
      while (commands.hasNext()) {
        String[] words = commands.next().split(" ", -1);
        if (words[0].equals("cut")) {
          reduceUntilItFails(world);
          break;
        }
        System.out.println(
            "took\t" + median(world, Integer.parseInt(words[1]), Integer.parseInt(words[2])));
      }
    }
    System.out.println("closed\t" + Outcome.now());
  }

  /** Returns how many microseconds an all-reduce takes. */
  private static long median(ProcessGroup world, int count, int rounds) {
    float[] values = new float[count];
    long[] nanos = new long[rounds];
    for (int i = 0; i < rounds; i++) {
      Arrays.fill(values, world.rank() + i);
      long start = System.nanoTime();
      world.allReduce(Tensor.of(values), ReduceOp.SUM).await();
      nanos[i] = System.nanoTime() - start;
      for (float each : values) {
        if (each != 1 + 2 * i) {
          throw new IllegalStateException(each + " in round " + i + ", not " + (1 + 2 * i));
        }
      }
    }
    Arrays.sort(nanos);
    return nanos[rounds / 2] / 1_000;
  }

  private static void reduceUntilItFails(ProcessGroup world) {
    try {
      while (true) {
        world.allReduce(Tensor.of(new float[1]), ReduceOp.SUM).await();
      }
    } catch (RuntimeException e) {
      System.out.println("ended\t" + Outcome.of(e).encode());
    }
  }
}

package org.sparkcollectives.lightgbm;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;

/**
 * Times trainings over LightGBM's own sockets and over a group, in turns, with the same bins. Runs
 * as one rank of several processes, whose place is in the environment, see {@code env://}; its
 * argument is the number of repetitions. Rank 0 prints the medians and ranges of the slowest rank.
 */
final class TrainingTimes {

  private static final int ROWS = 20_000;
  private static final int COLUMNS = 50;

  private final ProcessGroup group;
  private final int repetitions;

  private TrainingTimes(ProcessGroup group, int repetitions) {
    this.group = group;
    this.repetitions = repetitions;
  }

  public static void main(String[] arguments) throws IOException {
    try (ProcessGroup group = Rendezvous.join("env://", GroupOptions.defaults())) {
      TrainingTimes times = new TrainingTimes(group, Integer.parseInt(arguments[0]));
      times.measure("generated", times.generated(), Map.of("objective", "binary"), 50);
      times.measure(
          "digits",
          Digits.of(group.rank(), group.size()),
          Map.of("objective", "multiclass", "num_class", "10", "min_data_in_leaf", "5"),
          20);
      group.barrier().await();
    }
  }

  /** Returns this rank's rows, with two classes that depend on eleven of the features. */
  private TrainingRows generated() {
    Random random = new Random(5);
    TrainingRows rows = new TrainingRows(COLUMNS);
    for (int i = 0; i < ROWS; i++) {
      double[] row = random.doubles(COLUMNS).map(each -> each - 0.5).toArray();
      double margin = row[10] * row[11] + random.nextGaussian() / 4;
      for (int column = 0; column < 10; column++) {
        margin += row[column] * (column - 4.5) / 4;
      }
      if (i % group.size() == group.rank()) {
        rows.add(row, margin > 0 ? 1 : 0);
      }
    }
    return rows;
  }

  private void measure(String name, TrainingRows rows, Map<String, String> own, int rounds)
      throws IOException {
    Map<String, String> parameters = new HashMap<>(own);
    parameters.put("deterministic", "true");
    parameters.put("force_col_wise", "true");
    parameters.put("verbosity", "-1");
    parameters.put("seed", "7");
    RankTraining training = new RankTraining(parameters, rounds, 0, LibraryFile.path(), 1);
    TrainingRows none = new TrainingRows(rows.columns());
    long[] counts = gathered(rows.size());
    double[] overSockets = new double[repetitions];
    double[] overGroup = new double[repetitions];
    for (int i = 0; i < repetitions; i++) {
      long port = SocketTraining.ports(1)[0];
      int[] ports = Arrays.stream(gathered(port)).mapToInt(Math::toIntExact).toArray();
      overSockets[i] =
          slowest(() -> SocketTraining.run(group, ports, rows, parameters, rounds, counts));
      overGroup[i] = slowest(() -> training.run(group, rows, none));
    }
    print(name, "sockets", overSockets);
    print(name, "group", overGroup);
  }

  private long[] gathered(long own) {
    long[] all = new long[group.size()];
    group.allGather(Tensor.of(all), Tensor.of(own)).await();
    return all;
  }

  /** Returns the seconds that the slowest rank takes. */
  private double slowest(Supplier<String> training) {
    group.barrier().await();
    long begin = System.nanoTime();
    String model = training.get();
    double[] seconds = {(System.nanoTime() - begin) / 1e9};
    if (model.isEmpty()) {
      throw new IllegalStateException("There is no model");
    }
    group.allReduce(Tensor.of(seconds), ReduceOp.MAX).await();
    return seconds[0];
  }

  private void print(String name, String way, double[] seconds) {
    double[] sorted = seconds.clone();
    Arrays.sort(sorted);
    if (group.rank() == 0) {
      System.out.printf(
          Locale.ROOT,
          "%s, %s: %.2f s (%.2f to %.2f)%n",
          name,
          way,
          sorted[sorted.length / 2],
          sorted[0],
          sorted[sorted.length - 1]);
    }
  }
}

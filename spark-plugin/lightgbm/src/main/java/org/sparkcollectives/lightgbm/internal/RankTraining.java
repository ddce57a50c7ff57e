package org.sparkcollectives.lightgbm.internal;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.lightgbm.LightGbmException;
import org.sparkcollectives.lightgbm.TrainingRows;

/**
 * Trains as one rank of a group, on the thread that calls it: all of LightGBM's network belongs to
 * a thread.
 *
 * @param parameters LightGBM's, without those that the group decides
 * @param rounds how many iterations
 * @param earlyStopping after how many iterations without a better metric; 0 for never
 * @param library the path of LightGBM's library; empty for that of the jar
 * @param threads of LightGBM
 */
public record RankTraining(
    Map<String, String> parameters, int rounds, int earlyStopping, String library, int threads)
    implements Serializable {

  private static final long serialVersionUID = 1;

  /**
   * Checks what does not depend on the rows.
   *
   * @throws IllegalArgumentException saying which parameter is wrong
   */
  public RankTraining {
    parameters = new TreeMap<>(parameters);
    Parameters.check(parameters);
    Objects.requireNonNull(library, "library");
    if (rounds < 1) {
      throw new IllegalArgumentException("The number of rounds is " + rounds + ", not 1 or more");
    }
    if (earlyStopping < 0) {
      throw new IllegalArgumentException("Early stopping after " + earlyStopping + " rounds");
    }
  }

  /**
   * Trains, and returns the model's text, the same on all ranks. A collective.
   *
   * @param validation rows for early stopping; a rank may have none, all together must have some
   * @throws IllegalArgumentException on all ranks, if a rank has no rows or other columns
   */
  public String run(ProcessGroup group, TrainingRows rows, TrainingRows validation) {
    LightGbmLibrary loaded = LightGbmLibrary.load(library);
    long[] counts = checkedRows(group, rows, validation);
    String text = Parameters.text(parameters, group.size(), threads, SampledBins.isPart(counts));
    try (NativeDataset bins = SampledBins.of(group, loaded, rows, counts, seed(), text);
        NativeDataset own = NativeDataset.of(loaded, rows, text, bins);
        GroupNetwork network = new GroupNetwork(loaded, group)) {
      try (NativeBooster booster = NativeBooster.over(loaded, own, text)) {
        network.check();
        if (earlyStopping == 0) {
          return trainAllRounds(network, booster);
        }
        if (validation.size() == 0) {
          return trainWithEarlyStopping(group, network, booster, validation);
        }
        try (NativeDataset validationSet = NativeDataset.of(loaded, validation, text, bins)) {
          booster.addValidation(validationSet);
          network.check();
          return trainWithEarlyStopping(group, network, booster, validation);
        }
      } catch (LightGbmException e) {
        network.check(); // LightGBM may have failed because of the zeros that it got.
        throw e;
      }
    }
  }

  private String trainAllRounds(GroupNetwork network, NativeBooster booster) {
    for (int i = 0; i < rounds; i++) {
      boolean finished = booster.update();
      network.check();
      if (finished) {
        break;
      }
    }
    return booster.text(rounds);
  }

  private String trainWithEarlyStopping(
      ProcessGroup group, GroupNetwork network, NativeBooster booster, TrainingRows validation) {
    int metrics = booster.metrics().size();
    EarlyStopping stopping =
        new EarlyStopping(group, earlyStopping, validation.size(), booster.metrics());
    for (int i = 1; i <= rounds; i++) {
      boolean finished = booster.update();
      network.check();
      double own = validation.size() == 0 ? 0 : booster.evaluateValidation(metrics)[0];
      network.check();
      if (stopping.stopsAfter(i, own) || finished) {
        break;
      }
      group.progress(i, rounds, "best metric " + stopping.best());
    }
    return booster.text(stopping.bestIteration());
  }

  private long seed() {
    return Long.parseLong(parameters.getOrDefault("data_random_seed", "1"));
  }

  /** Returns the rows of each rank, after all ranks have agreed that they can train. */
  private long[] checkedRows(ProcessGroup group, TrainingRows rows, TrainingRows validation) {
    double first = rows.size() == 0 ? 0 : rows.labels()[0];
    boolean oneLabel = true;
    for (int i = 0; i < rows.size(); i++) {
      oneLabel &= rows.labels()[i] == first;
    }
    long[] own = {rows.size(), rows.columns(), validation.size(), oneLabel ? 1 : 0};
    long[] all = new long[own.length * group.size()];
    group.allGather(Tensor.of(all), Tensor.of(own)).await();
    long[] counts = new long[group.size()];
    long validationRows = 0;
    for (int rank = 0; rank < group.size(); rank++) {
      long[] of = Arrays.copyOfRange(all, own.length * rank, own.length * (rank + 1));
      if (of[0] == 0) {
        throw new IllegalArgumentException(
            "Rank "
                + rank
                + " of "
                + group.size()
                + " has no rows to train on: repartition the rows, or train with fewer ranks");
      }
      if (of[1] != all[1]) {
        throw new IllegalArgumentException(
            "Rank " + rank + " has rows of " + of[1] + " features, and rank 0 of " + all[1]);
      }
      if (of[3] == 1 && classifies()) {
        throw new IllegalArgumentException(
            "Rank "
                + rank
                + " of "
                + group.size()
                + " has rows of one class only, with which LightGBM does not train: repartition"
                + " the rows at random, or train with fewer ranks");
      }
      counts[rank] = of[0];
      validationRows += of[2];
    }
    if (earlyStopping > 0 && validationRows == 0) {
      throw new IllegalArgumentException(
          "Early stopping needs validation rows, and no rank of " + group.size() + " has any");
    }
    return counts;
  }

  private boolean classifies() {
    String objective =
        parameters.getOrDefault("objective", parameters.getOrDefault("application", ""));
    return objective.startsWith("binary") || objective.startsWith("multiclass");
  }
}

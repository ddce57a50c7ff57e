package org.sparkcollectives.lightgbm;

import java.io.Serializable;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.sparkcollectives.ProcessGroup;

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
record RankTraining(
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
   * Returns this training with LightGBM's own names for its parameters, which it asks the library
   * for.
   *
   * @throws IllegalArgumentException if LightGBM does not know one of them
   */
  public RankTraining withOwnNames() {
    Map<String, String> own = ParameterNames.of(LightGbmLibrary.load(library)).ownNames(parameters);
    return new RankTraining(own, rounds, earlyStopping, library, threads);
  }

  /** Returns whether labels are classes, whatever the objective's parameter is called. */
  public boolean classifies() {
    return Parameters.classifies(parameters);
  }

  /**
   * Tells all ranks what each has to train on. A collective.
   *
   * @throws IllegalArgumentException on all ranks, if labels of a classifier are no classes
   */
  public RankRows gather(ProcessGroup group, TrainingRows rows, TrainingRows validation) {
    return RankRows.gather(group, rows, validation, Parameters.classes(parameters));
  }

  /**
   * Trains, and returns the model's text, the same on all ranks. A collective.
   *
   * @param validation rows for early stopping; a rank may have none, all together must have some
   * @throws IllegalArgumentException on all ranks, if a rank has no rows or other columns, or a
   *     parameter does not exist
   */
  public String run(ProcessGroup group, TrainingRows rows, TrainingRows validation) {
    RankTraining training = withOwnNames();
    return training.run(group, rows, validation, training.gather(group, rows, validation));
  }

  /**
   * Trains as {@link #run(ProcessGroup, TrainingRows, TrainingRows)}, by LightGBM's own names.
   *
   * @param ranks what {@link #gather} has returned
   */
  public String run(
      ProcessGroup group, TrainingRows rows, TrainingRows validation, RankRows ranks) {
    ranks.check();
    if (earlyStopping > 0 && ranks.validationRows() == 0) {
      throw new IllegalArgumentException(
          "Early stopping needs validation rows, and no rank of " + group.size() + " has any");
    }
    LightGbmLibrary loaded = LightGbmLibrary.load(library);
    SampledBins sample = SampledBins.of(parameters, ranks.counts());
    String text = Parameters.text(parameters, group.size(), threads, sample.isPart());
    try (NativeDataset bins = sample.gather(group, loaded, rows, text);
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
}

package org.sparkcollectives.lightgbm;

import java.util.Arrays;
import java.util.Optional;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** What each rank has to train on. All ranks know it of all, and so decide alike. */
final class RankRows {

  /** What a rank tells the others. */
  private record Facts(
      long rows, long columns, long validationRows, boolean oneLabel, float wrongLabel) {

    private static final int LENGTH = 5;

    static Facts of(TrainingRows rows, TrainingRows validation, int classes) {
      float wrong = firstWrongLabel(rows, classes);
      return new Facts(
          rows.size(),
          rows.columns(),
          validation.size(),
          hasOneLabel(rows),
          Float.isNaN(wrong) ? firstWrongLabel(validation, classes) : wrong);
    }

    private static boolean hasOneLabel(TrainingRows rows) {
      for (int i = 1; i < rows.size(); i++) {
        if (rows.labels()[i] != rows.labels()[0]) {
          return false;
        }
      }
      return true;
    }

    /** Returns a label that is not the number of a class, or NaN. */
    private static float firstWrongLabel(TrainingRows rows, int classes) {
      for (int i = 0; classes > 0 && i < rows.size(); i++) {
        float label = rows.labels()[i];
        if (label < 0 || label >= classes || label != Math.rint(label)) {
          return label;
        }
      }
      return Float.NaN;
    }

    long[] packed() {
      return new long[] {
        rows, columns, validationRows, oneLabel ? 1 : 0, Float.floatToIntBits(wrongLabel)
      };
    }

    static Facts unpacked(long[] facts, int at) {
      return new Facts(
          facts[at],
          facts[at + 1],
          facts[at + 2],
          facts[at + 3] == 1,
          Float.intBitsToFloat((int) facts[at + 4]));
    }
  }

  private final Facts[] ranks;
  private final int classes;

  private RankRows(Facts[] ranks, int classes) {
    this.ranks = ranks;
    this.classes = classes;
  }

  /**
   * Exchanges what the ranks have. A collective.
   *
   * @param classes how many classes the labels number; 0 if they are no classes
   * @throws IllegalArgumentException on all ranks, if the ranks have different columns, or labels
   *     that are no classes
   */
  static RankRows gather(
      ProcessGroup group, TrainingRows rows, TrainingRows validation, int classes) {
    long[] all = new long[Facts.LENGTH * group.size()];
    long[] own = Facts.of(rows, validation, classes).packed();
    group.allGather(Tensor.of(all), Tensor.of(own)).await();
    Facts[] ranks = new Facts[group.size()];
    Arrays.setAll(ranks, rank -> Facts.unpacked(all, Facts.LENGTH * rank));
    RankRows gathered = new RankRows(ranks, classes);
    gathered.requireClasses();
    return gathered;
  }

  private void requireClasses() {
    for (int rank = 0; rank < ranks.length; rank++) {
      if (!Float.isNaN(ranks[rank].wrongLabel)) {
        throw new IllegalArgumentException(
            "A row of rank "
                + rank
                + " has the label "
                + ranks[rank].wrongLabel
                + ", and the objective takes whole numbers from 0 to "
                + (classes - 1)
                + ". Index the labels first, such as by Spark ML's StringIndexer");
      }
    }
  }

  /** Returns why LightGBM cannot train on the rows as they lie; empty if it can. */
  public Optional<String> obstacle() {
    for (int rank = 0; rank < ranks.length; rank++) {
      String which = "Rank " + rank + " of " + ranks.length;
      if (ranks[rank].rows == 0) {
        return Optional.of(which + " has no rows to train on");
      }
      if (classes > 0 && ranks[rank].oneLabel) {
        return Optional.of(
            which + " has rows of one class only, with which LightGBM does not train");
      }
    }
    return Optional.empty();
  }

  /**
   * Checks that the ranks can train.
   *
   * @throws IllegalArgumentException on all ranks, naming the first that cannot
   */
  void check() {
    obstacle()
        .ifPresent(
            what -> {
              throw new IllegalArgumentException(
                  what + ": repartition the rows at random, or train with fewer ranks");
            });
    for (int rank = 1; rank < ranks.length; rank++) {
      if (ranks[rank].columns != ranks[0].columns) {
        throw new IllegalArgumentException(
            "Rank "
                + rank
                + " has rows of "
                + ranks[rank].columns
                + " features, and rank 0 of "
                + ranks[0].columns);
      }
    }
  }

  /** Returns how many rows each rank trains on. */
  long[] counts() {
    return Arrays.stream(ranks).mapToLong(Facts::rows).toArray();
  }

  /** Returns how many validation rows all ranks have together. */
  long validationRows() {
    return Arrays.stream(ranks).mapToLong(Facts::validationRows).sum();
  }
}

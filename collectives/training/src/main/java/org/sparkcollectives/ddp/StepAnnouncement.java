package org.sparkcollectives.ddp;

import java.util.Optional;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.join.Join;
import org.sparkcollectives.join.JoinOptions;
import org.sparkcollectives.join.JoinStep;
import org.sparkcollectives.join.Joinable;

/**
 * What a rank tells the others at the beginning of a step, and what follows from it for the mean:
 * that it still has rows, and how many.
 */
final class StepAnnouncement {

  private final boolean weighted;
  private JoinOptions joinOptions = new JoinOptions();
  private double weight = Double.NaN;
  private RowCount rows;
  private JoinStep join;
  private boolean synchronises;

  StepAnnouncement(ReducerOptions options) {
    this.weighted = options.weightedMean();
  }

  void joinedBy(JoinOptions options) {
    joinOptions = options;
  }

  void setWeight(double value) {
    weight = value;
  }

  /** Returns whether this rank has told the others of a step that has not ended yet. */
  boolean isMade() {
    return join != null || rows != null;
  }

  /**
   * Tells the other ranks of a step, as far as they need it. Waits for them only if all are to
   * throw when one has run out of rows.
   */
  void make(ProcessGroup group, Joinable reducer, boolean withReduction) {
    double own = rows();
    Optional<JoinStep> step = Join.notifyStep(reducer, withReduction, own);
    join = step.orElse(null);
    synchronises = withReduction;
    if (weighted) {
      rows = join == null ? RowCount.begin(group, own) : RowCount.of(join, own);
    }
  }

  private double rows() {
    return weighted && !Double.isNaN(weight) ? weight : 0;
  }

  /** Returns whether this rank is in a join, in which it has said otherwise. */
  boolean contradicts(boolean withReduction) {
    return join != null && synchronises != withReduction;
  }

  /** Returns why the step cannot have a mean; null if it can. */
  String fault() {
    return weighted && Double.isNaN(weight) ? "did not call setWeight before the step" : null;
  }

  GradientMean mean(int ranks) {
    if (weighted) {
      return GradientMean.overRows(ranks, rows(), rows);
    }
    return join == null ? GradientMean.overRanks(ranks) : meanOfJoin(ranks, join);
  }

  /** Returns the mean of a step in which this rank has no rows. */
  GradientMean meanWithoutRows(int ranks, JoinStep step) {
    return weighted
        ? GradientMean.overRows(ranks, 0, RowCount.of(step, 0))
        : meanOfJoin(ranks, step);
  }

  private GradientMean meanOfJoin(int ranks, JoinStep step) {
    return joinOptions.divideByInitialSize()
        ? GradientMean.overRanks(ranks)
        : GradientMean.overActiveRanks(ranks, step);
  }

  /** Forgets the step. */
  void end() {
    weight = Double.NaN;
    rows = null;
    join = null;
  }
}

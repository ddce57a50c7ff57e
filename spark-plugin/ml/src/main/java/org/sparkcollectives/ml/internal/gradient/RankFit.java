package org.sparkcollectives.ml.internal.gradient;

import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.ml.feature.Instance;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ml.internal.optim.Minimization;
import org.sparkcollectives.ml.internal.optim.Objective;
import org.sparkcollectives.ml.internal.optim.Solution;
import org.sparkcollectives.ml.internal.rows.HeapShare;
import org.sparkcollectives.ml.internal.rows.HeldRows;
import org.sparkcollectives.ml.internal.rows.RankMemory;
import org.sparkcollectives.ml.internal.rows.RankRows;
import org.sparkcollectives.spark.RankFunction;

/**
 * The whole fit, as each rank runs it. Rank 0 returns the {@link FitResult}, the others nothing.
 */
final class RankFit implements RankFunction<Instance, byte[]> {

  private static final long serialVersionUID = 1;

  /** The vectors of all coefficients that a rank without the optimizer holds for its sums. */
  private static final int VECTORS_OF_RANK = 8;

  private final Problem problem;
  private final long blockBytes;
  private final Duration checkpointInterval;

  RankFit(Problem problem, long blockBytes, Duration checkpointInterval) {
    this.problem = problem;
    this.blockBytes = blockBytes;
    this.checkpointInterval = checkpointInterval;
  }

  @Override
  public Iterator<byte[]> call(ProcessGroup world, Iterator<Instance> rows) {
    FitResult result = fit(world, rows);
    return world.rank() == 0
        ? List.of(JavaBytes.of(result)).iterator()
        : Collections.emptyIterator();
  }

  private FitResult fit(ProcessGroup world, Iterator<Instance> rows) {
    RankRows read =
        RankRows.read(world, rows, problem.labels(), blockBytes, HeapShare.ofThisRank());
    if (read.shortage().isPresent()) {
      return new FitResult(read.statistics(), null, read.shortage().get());
    }
    Optional<Objective> objective =
        read.statistics().isEmpty() ? Optional.empty() : problem.objective(read.statistics());
    if (objective.isEmpty()) {
      return new FitResult(read.statistics(), null, "there is nothing to iterate over");
    }
    Optional<String> shortage = shortage(world, read.own(), objective.get());
    if (shortage.isPresent()) {
      return new FitResult(read.statistics(), null, shortage.get());
    }
    read.own().scale(read.statistics().inverseStd());
    Optional<Solution> solution =
        new Minimization(world, read.own().blocks(), objective.get(), checkpointInterval).run();
    return new FitResult(read.statistics(), solution.orElse(null), null);
  }

  /** Returns why the optimizer does not fit beside the rows; the same on all ranks. */
  private static Optional<String> shortage(ProcessGroup world, HeldRows rows, Objective objective) {
    int vectors = world.rank() == 0 ? objective.minimizer().vectors() : VECTORS_OF_RANK;
    long bytes = (long) vectors * Double.BYTES * objective.start().length;
    return RankMemory.shortage(
        world, "the rows and the optimizer", rows.bytes() + bytes, rows.capacity());
  }
}

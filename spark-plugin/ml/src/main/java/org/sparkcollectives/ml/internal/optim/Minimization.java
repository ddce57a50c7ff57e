package org.sparkcollectives.ml.internal.optim;

import breeze.linalg.DenseVector;
import breeze.optimize.DiffFunction;
import breeze.optimize.FirstOrderMinimizer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.ml.feature.InstanceBlock;
import org.sparkcollectives.ProcessGroup;

/**
 * Minimises a loss over the rows of all ranks. Rank 0 runs the optimizer; the others sum up their
 * rows where it asks for it.
 *
 * <p>Steps of an evaluation: one broadcast of the coefficients, one reduction of the gradient. If a
 * rank fails, the group fails with it, and the others throw.
 */
public final class Minimization {

  private final ProcessGroup world;
  private final Objective objective;
  private final RankLoss loss;
  private final OptimizerCheckpoint checkpoint;

  /**
   * Creates a minimisation.
   *
   * @param rows of this rank
   * @param checkpointInterval how much time passes between two checkpoints at least; zero for a
   *     checkpoint after each iteration
   */
  public Minimization(
      ProcessGroup world,
      List<InstanceBlock> rows,
      Objective objective,
      Duration checkpointInterval) {
    this.world = world;
    this.objective = objective;
    this.loss = new RankLoss(world, rows, objective);
    this.checkpoint =
        new OptimizerCheckpoint(world, objective.minimizer().breeze(), checkpointInterval);
  }

  /** Runs it, and returns the solution on rank 0. A collective: called by all ranks. */
  public Optional<Solution> run() {
    Optional<OptimizerState> kept = checkpoint.restore();
    if (world.rank() != 0) {
      loss.serve(checkpoint::assist);
      return Optional.empty();
    }
    Solution solution = minimize(kept);
    loss.end();
    return Optional.of(solution);
  }

  private Solution minimize(Optional<OptimizerState> kept) {
    var optimizer = objective.minimizer().breeze();
    DiffFunction<DenseVector<Object>> function = BreezeFunction.of(loss::evaluate);
    History history = new History(kept.map(OptimizerState::objectiveHistory).orElse(new double[0]));
    FirstOrderMinimizer.State<DenseVector<Object>, ?, ?> state =
        kept.isPresent()
            ? kept.get().state()
            : optimizer.initialState(function, BreezeVectors.wrap(objective.start().clone()));
    int continuedFrom = state.iter();
    var iterations = Breeze.iterations(optimizer, function, state);
    for (boolean first = true; ; first = false) {
      int before = state.iter();
      state = iterations.next();
      if (!first || kept.isEmpty()) {
        history.add(state.adjustedValue());
      }
      report(state);
      if (Breeze.hasConverged(optimizer, state)) {
        return new Solution(BreezeVectors.toArray(state.x()), history.values(), continuedFrom);
      }
      // A state whose search has just failed is no place to go on from: Breeze remembers the
      // failure outside of it.
      if (state.iter() > before && checkpoint.isDue()) {
        checkpoint.keep(new OptimizerState(state, history.values()), loss::keep);
      }
    }
  }

  private void report(FirstOrderMinimizer.State<DenseVector<Object>, ?, ?> state) {
    int most = Math.max(1, objective.minimizer().maxIterations());
    world.progress(Math.min(state.iter(), most), most, "loss " + state.adjustedValue());
  }

  /** The losses so far. */
  private static final class History {
    private double[] values;
    private int length;

    History(double[] kept) {
      values = Arrays.copyOf(kept, kept.length + 16);
      length = kept.length;
    }

    void add(double value) {
      if (length == values.length) {
        values = Arrays.copyOf(values, 2 * length);
      }
      values[length++] = value;
    }

    double[] values() {
      return Arrays.copyOf(values, length);
    }
  }
}

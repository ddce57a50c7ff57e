package org.sparkcollectives.spark.internal.iteration;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.iteration.IterationException;
import org.sparkcollectives.spark.iteration.IterationResult;
import org.sparkcollectives.spark.iteration.RankOrderSum;

/**
 * The loop of one rank: all ranks contribute to each iteration, and rank 0 alone computes the next
 * state.
 *
 * <p>If all ranks computed it, from the same sum, their states could part: two JVMs need not round
 * alike where libraries use the instructions of the processor. A rank that stops an iteration
 * earlier than the others would leave them waiting.
 *
 * @param <S> the type of the state
 * @param <D> the type of the rank's data
 */
public final class IterationLoop<S, D> {

  private final ProcessGroup group;
  private final CheckedFunctions<S, D> functions;
  private final int maxIterations;
  private final int checkpointInterval;
  private final Snapshots<S> snapshots;
  private final boolean isRoot;

  private final List<Double> losses = new ArrayList<>();
  private RankOrderSum sum;
  private int length = CheckedFunctions.ANY_LENGTH;

  /**
   * Creates the loop.
   *
   * @param checkpointInterval after how many iterations the state is kept; 0 for never
   */
  public IterationLoop(
      ProcessGroup group,
      IterationFunctions<S, D> functions,
      int maxIterations,
      int checkpointInterval) {
    this.group = group;
    this.functions = new CheckedFunctions<>(functions);
    this.maxIterations = maxIterations;
    this.checkpointInterval = checkpointInterval;
    this.snapshots = new Snapshots<>(group);
    this.isRoot = group.rank() == 0;
  }

  /**
   * Runs the loop. All ranks call this.
   *
   * @param initial the same on all ranks
   * @param loader returns this rank's data, or nothing if it has no rows
   * @return the result at rank 0; empty elsewhere
   * @throws IterationException if a function of the user has failed on this rank
   */
  public Optional<IterationResult<S>> run(S initial, Callable<Optional<D>> loader) {
    Optional<D> data = functions.load(group.rank(), loader);
    StateBroadcast<S> broadcast = StateBroadcast.of(group, initial);
    S state = initial;
    int iteration = 0;
    boolean converged = false;
    if (checkpointInterval > 0) {
      Optional<Snapshots.Restored<S>> restored = snapshots.restore();
      if (restored.isPresent()) {
        iteration = restored.get().iteration();
        state = broadcast.run(atRoot(restored.get().atRoot()));
      }
    }
    while (iteration < maxIterations && !converged) {
      iteration++;
      double[] total = sum(functions.contribution(group.rank(), state, data, iteration, length));
      S next = null;
      if (isRoot) {
        CheckedFunctions.Next<S> computed = next(state, total, iteration);
        next = computed.state();
        converged = computed.converged();
      }
      if (iteration < maxIterations) {
        S received = broadcast.run(converged ? null : next);
        converged = received == null;
        state = isRoot ? next : received;
        keep(state, iteration, converged);
      } else {
        state = next;
      }
    }
    return isRoot
        ? Optional.of(new IterationResult<>(state, iteration, converged, lossArray()))
        : Optional.empty();
  }

  private S atRoot(Snapshot<S> snapshot) {
    if (!isRoot) {
      return null;
    }
    losses.addAll(snapshot.losses());
    return snapshot.state();
  }

  private void keep(S state, int iteration, boolean converged) {
    if (checkpointInterval > 0 && !converged && iteration % checkpointInterval == 0) {
      snapshots.save(
          iteration, isRoot ? new Snapshot<>(iteration, state, List.copyOf(losses)) : null);
    }
  }

  private double[] sum(double[] own) {
    if (sum == null) {
      length =
          ContributionLengths.agree(group, own == null ? ContributionLengths.NO_ROWS : own.length);
      sum = new RankOrderSum(group, length);
    }
    return sum.reduce(own == null ? new double[length] : own);
  }

  private CheckedFunctions.Next<S> next(S state, double[] total, int iteration) {
    CheckedFunctions.Next<S> next = functions.next(state, total, iteration);
    if (next.loss() != null) {
      losses.add(next.loss());
    }
    group.progress(iteration, maxIterations, next.text());
    return next;
  }

  private double[] lossArray() {
    return losses.stream().mapToDouble(Double::doubleValue).toArray();
  }
}

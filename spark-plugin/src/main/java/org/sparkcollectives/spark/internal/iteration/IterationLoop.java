package org.sparkcollectives.spark.internal.iteration;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkcollectives.CollectiveException;
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

  private static final String CONTRIBUTION = "its contribution";
  private static final String UPDATE = "the update of the state";

  private final ProcessGroup group;
  private final IterationFunctions<S, D> functions;
  private final int maxIterations;
  private final int checkpointInterval;
  private final Snapshots<S> snapshots;
  private final boolean isRoot;

  private final List<Double> losses = new ArrayList<>();
  private RankOrderSum sum;
  private int length;

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
    this.functions = functions;
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
    Optional<D> data = called("the loader of its rows", 0, loader);
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
      double[] total = sum(contribution(state, data, iteration));
      S next = null;
      if (isRoot) {
        S previous = functions.stop() == null ? state : copyOfNumbers(state);
        next = update(state, total, iteration);
        converged = isConverged(previous, next, iteration);
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

  /** Returns this rank's numbers; null if it has no rows. */
  private double[] contribution(S state, Optional<D> data, int iteration) {
    if (data.isEmpty()) {
      return null;
    }
    double[] own =
        called(
            CONTRIBUTION,
            iteration,
            () -> functions.contribution().compute(state, data.get(), iteration));
    if (own == null) {
      throw failed(CONTRIBUTION, iteration, new NullPointerException("it returned null"));
    }
    if (sum != null && own.length != length) {
      throw failed(
          CONTRIBUTION,
          iteration,
          new IllegalArgumentException(
              "it returned "
                  + own.length
                  + " numbers, and "
                  + length
                  + " in the iterations before. All must be of one length"));
    }
    return own;
  }

  private double[] sum(double[] own) {
    if (sum == null) {
      length =
          ContributionLengths.agree(group, own == null ? ContributionLengths.NO_ROWS : own.length);
      sum = new RankOrderSum(group, length);
    }
    return sum.reduce(own == null ? new double[length] : own);
  }

  private S update(S state, double[] total, int iteration) {
    String text = "";
    if (functions.loss() != null) {
      double loss =
          called("the loss", iteration, () -> functions.loss().loss(state, total, iteration));
      losses.add(loss);
      text = "loss " + loss;
    }
    S next = called(UPDATE, iteration, () -> functions.update().next(state, total, iteration));
    if (next == null) {
      throw failed(UPDATE, iteration, new NullPointerException("it returned null"));
    }
    requireSameLength(state, next, iteration);
    group.progress(iteration, maxIterations, text);
    return next;
  }

  private void requireSameLength(S state, S next, int iteration) {
    if (state instanceof double[] before
        && !(next instanceof double[] after && after.length == before.length)) {
      throw failed(
          UPDATE,
          iteration,
          new IllegalArgumentException(
              "it returned "
                  + (next instanceof double[] after ? after.length + " numbers" : next.getClass())
                  + " for "
                  + before.length
                  + ". A state that is a double[] must keep its length; use another type for one"
                  + " that grows or shrinks, such as a List<Double>"));
    }
  }

  private boolean isConverged(S previous, S next, int iteration) {
    return functions.stop() != null
        && called(
            "the stop condition",
            iteration,
            () -> functions.stop().isMet(previous, next, iteration));
  }

  /** Returns a copy of an array, which the update may change in place. */
  @SuppressWarnings("unchecked")
  private static <S> S copyOfNumbers(S state) {
    return state instanceof double[] numbers ? (S) numbers.clone() : state;
  }

  private double[] lossArray() {
    return losses.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private <R> R called(String function, int iteration, Callable<R> call) {
    try {
      return call.call();
    } catch (CollectiveException e) {
      throw e;
    } catch (Exception | AssertionError e) {
      throw failed(function, iteration, e);
    }
  }

  private IterationException failed(String function, int iteration, Throwable cause) {
    return new IterationException(function, group.rank(), iteration, cause);
  }
}

package org.sparkcollectives.spark.internal.iteration;

import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.spark.iteration.IterationException;

/**
 * Calls the user's functions. What they throw, and what they may not return, becomes an {@link
 * IterationException} that names the rank, the iteration and the function.
 */
final class CheckedFunctions<S, D> {

  /** The length of contributions as long as none is known. */
  static final int ANY_LENGTH = -1;

  private static final String CONTRIBUTION = "its contribution";
  private static final String UPDATE = "the update of the state";

  private final IterationFunctions<S, D> functions;

  /**
   * What an iteration leads to.
   *
   * @param loss of the state before it; null if there is none
   * @param converged whether the state is the final one
   */
  record Next<S>(S state, Double loss, boolean converged) {

    /** Returns what users are told of it. */
    String text() {
      return loss == null ? "" : "loss " + loss;
    }
  }

  CheckedFunctions(IterationFunctions<S, D> functions) {
    this.functions = functions;
  }

  /** Returns a rank's data; empty if it has no rows. */
  Optional<D> load(int rank, Callable<Optional<D>> loader) {
    return called("the loader of its rows", rank, 0, loader);
  }

  /**
   * Returns a rank's numbers; null if it has no rows.
   *
   * @param length how many there must be, or {@link #ANY_LENGTH}
   */
  double[] contribution(int rank, S state, Optional<D> data, int iteration, int length) {
    if (data.isEmpty()) {
      return null;
    }
    double[] own =
        called(
            CONTRIBUTION,
            rank,
            iteration,
            () -> functions.contribution().compute(state, data.get(), iteration));
    if (own == null) {
      throw failed(CONTRIBUTION, rank, iteration, new NullPointerException("it returned null"));
    }
    if (length != ANY_LENGTH && own.length != length) {
      throw failed(
          CONTRIBUTION,
          rank,
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

  /**
   * Returns what follows from the sum of all contributions. For rank 0.
   *
   * @param state may be changed
   */
  Next<S> next(S state, double[] total, int iteration) {
    S previous = functions.stop() == null ? state : copyOfNumbers(state);
    Double loss =
        functions.loss() == null
            ? null
            : called(
                "the loss", 0, iteration, () -> functions.loss().loss(state, total, iteration));
    S next = called(UPDATE, 0, iteration, () -> functions.update().next(state, total, iteration));
    if (next == null) {
      throw failed(UPDATE, 0, iteration, new NullPointerException("it returned null"));
    }
    requireSameLength(previous, next, iteration);
    boolean converged =
        functions.stop() != null
            && called(
                "the stop condition",
                0,
                iteration,
                () -> functions.stop().isMet(previous, next, iteration));
    return new Next<>(next, loss, converged);
  }

  private void requireSameLength(S state, S next, int iteration) {
    if (state instanceof double[] before
        && !(next instanceof double[] after && after.length == before.length)) {
      throw failed(
          UPDATE,
          0,
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

  /** Returns a copy of an array, which the update may change in place. */
  @SuppressWarnings("unchecked")
  private static <S> S copyOfNumbers(S state) {
    return state instanceof double[] numbers ? (S) numbers.clone() : state;
  }

  private static <R> R called(String function, int rank, int iteration, Callable<R> call) {
    try {
      return call.call();
    } catch (CollectiveException e) {
      throw e;
    } catch (Exception | AssertionError e) {
      throw failed(function, rank, iteration, e);
    }
  }

  private static IterationException failed(
      String function, int rank, int iteration, Throwable cause) {
    return new IterationException(function, rank, iteration, cause);
  }
}

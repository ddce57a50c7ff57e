package org.sparkcollectives.spark.iteration;

import java.io.Serializable;
import java.util.Objects;

/**
 * How a loop has ended.
 *
 * @param <S> the type of the state
 */
public final class IterationResult<S> implements Serializable {

  private static final long serialVersionUID = 1;

  @SuppressWarnings("serial") // The state must be serializable, or no task could have had it.
  private final S state;

  private final int iterations;
  private final boolean converged;
  private final double[] losses;

  /**
   * Creates a result.
   *
   * @param losses of the iterations, or none
   */
  public IterationResult(S state, int iterations, boolean converged, double... losses) {
    this.state = Objects.requireNonNull(state, "state");
    this.iterations = iterations;
    this.converged = converged;
    this.losses = losses.clone();
  }

  /** Returns the final state. */
  public S state() {
    return state;
  }

  /**
   * Returns how many iterations led to the state. Those that were repeated, because an executor was
   * lost, count once.
   */
  public int iterations() {
    return iterations;
  }

  /** Returns whether the stop condition has ended the loop, and not the number of iterations. */
  public boolean converged() {
    return converged;
  }

  /**
   * Returns the loss of each iteration; empty without a {@link LossFunction}. Entry {@code i} is
   * the loss of the state before iteration {@code i + 1}.
   */
  public double[] losses() {
    return losses.clone();
  }

  @Override
  public String toString() {
    return (converged ? "converged" : "not converged") + " after " + iterations + " iterations";
  }
}

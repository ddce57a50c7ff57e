package org.sparkcollectives.spark.iteration;

/** Thrown by a rank whose own function has failed; the cause is what the function threw. */
public final class IterationException extends RuntimeException {

  private static final long serialVersionUID = 1;

  private final int rank;
  private final int iteration;

  /**
   * Creates the exception.
   *
   * @param function what has failed, in words
   * @param iteration from 1; 0 while the rows are loaded
   */
  public IterationException(String function, int rank, int iteration, Throwable cause) {
    super(
        "Rank "
            + rank
            + " failed "
            + (iteration == 0 ? "before the first iteration" : "in iteration " + iteration)
            + ", in "
            + function
            + ": "
            + cause,
        cause);
    this.rank = rank;
    this.iteration = iteration;
  }

  /** Returns the rank that failed, which is the number of its partition. */
  public int rank() {
    return rank;
  }

  /** Returns the iteration, from 1; 0 if the rank failed while it loaded its rows. */
  public int iteration() {
    return iteration;
  }
}

package org.sparkcollectives.spark.internal.protocol;

/**
 * The request of a rank of a replica to the driver's store, for the keys of the run that it takes
 * part in: a call of {@code ElasticStage}.
 *
 * @param run identifies the run
 * @param replica the replica's number
 * @param rank which of the replica's ranks it is
 * @param stage the attempt that its task belongs to
 * @param incarnation its task attempt; one that Spark starts again has a higher one
 * @param host the host on which it runs
 * @param executor the id of its executor
 */
public record RunRequest(
    String run,
    int replica,
    int rank,
    StageAttempt stage,
    long incarnation,
    String host,
    String executor) {

  /** Creates the request of the only rank of a replica. */
  public RunRequest(
      String run, int replica, StageAttempt stage, long incarnation, String host, String executor) {
    this(run, replica, 0, stage, incarnation, host, executor);
  }

  /**
   * Returns whether the other is of a later incarnation of the same replica. The ranks of one
   * incarnation are the tasks of one attempt of a barrier stage.
   */
  public boolean precedes(RunRequest other) {
    return run.equals(other.run)
        && replica == other.replica
        && incarnation < other.incarnation
        && (rank == other.rank || !stage.equals(other.stage));
  }

  @Override
  public String toString() {
    return "task "
        + incarnation
        + " as "
        + (rank > 0 ? "rank " + rank + " of " : "")
        + "replica "
        + replica
        + " of run "
        + run;
  }
}

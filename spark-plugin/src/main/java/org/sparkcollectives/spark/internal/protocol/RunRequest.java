package org.sparkcollectives.spark.internal.protocol;

/**
 * The request of a replica to the driver's store, for the keys of the run that it takes part in: a
 * call of {@code ElasticStage}.
 *
 * @param run identifies the run
 * @param replica the replica's number, its partition
 * @param stage the attempt that its task belongs to
 * @param incarnation its task attempt; one that Spark starts again has a higher one
 * @param host the host on which it runs
 * @param executor the id of its executor
 */
public record RunRequest(
    String run, int replica, StageAttempt stage, long incarnation, String host, String executor) {

  /** Returns whether both are incarnations of the same replica of the same run. */
  public boolean isSameReplica(RunRequest other) {
    return run.equals(other.run) && replica == other.replica;
  }

  @Override
  public String toString() {
    return "task " + incarnation + " as replica " + replica + " of run " + run;
  }
}

package org.sparkcollectives.spark.elastic;

/**
 * Ends the function of a replica that comes too late: others have finished the run. Let it pass;
 * the task then succeeds without a result.
 */
public final class RunOverException extends RuntimeException {

  private static final long serialVersionUID = 1;

  /** Creates the exception of a replica. */
  public RunOverException(int replica) {
    super("Other replicas have finished the run: replica " + replica + " has no further steps");
  }
}

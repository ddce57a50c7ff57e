package org.sparkcollectives.spark.event;

/**
 * Says of one operation of a group how long it took, and for whom the ranks waited.
 *
 * @param sequence the number of the operation among the group's collectives
 * @param operation the kind, as {@code ALL_REDUCE}
 * @param seconds how long it took on the rank that came last, which waited for nobody
 * @param waitedSeconds how long a rank waited for that one, the mean of all ranks
 * @param last the rank that came last
 */
public record ComparedOperation(
    long sequence, String operation, double seconds, double waitedSeconds, int last) {

  public ComparedOperation {
    operation = Bounds.text(operation, OperationSums.MOST_CHARACTERS);
  }
}

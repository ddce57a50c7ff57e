package org.sparkcollectives.spark.elastic;

import java.io.Serializable;

/**
 * Trains one replica, as one task.
 *
 * @param <T> the type of the rows
 * @param <R> the type of the result
 */
@FunctionalInterface
public interface ReplicaFunction<T, R> extends Serializable {

  /**
   * Trains until enough steps are committed. Called again on another executor if this one is lost;
   * the state then comes from a replica that lives.
   *
   * <p>What it throws fails the run. It must let {@link RunOverException} pass.
   *
   * @param replica this one
   * @param rows of this replica's partition, and those that it takes over
   * @return what all replicas return alike, such as the model
   */
  R call(Replica replica, ReplicaRows<T> rows) throws Exception;
}

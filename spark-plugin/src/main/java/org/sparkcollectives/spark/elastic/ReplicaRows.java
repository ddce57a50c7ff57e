package org.sparkcollectives.spark.elastic;

import java.util.Iterator;

/**
 * The rows of a replica: an iterator over those of its own partition, which runs once; and those of
 * other partitions, where replicas take over the rows of lost ones ({@link LostRows#TAKE_OVER}).
 * For the thread of the task.
 *
 * @param <T> the type of the rows
 */
public interface ReplicaRows<T> extends Iterator<T> {

  /**
   * Returns the rows of a partition from the first one on, each time. Reads Spark's cache if the
   * partition is there, on whatever executor; else computes it anew, as the iterator runs. Keep in
   * memory what each step needs.
   *
   * @param partition one of {@link Replica#partitions}, or any other
   * @throws IllegalArgumentException if there is no such partition
   * @throws IllegalStateException without {@link LostRows#TAKE_OVER}: there are the rows of this
   *     iterator only
   */
  Iterator<T> ofPartition(int partition);
}

package org.sparkcollectives.spark.elastic;

/** Says who counts the rows of a replica that was lost, or has not started yet. */
public enum LostRows {

  /**
   * They do not count until it is back, as in torchft. For training whose batches are a sample of
   * the rows anyway.
   */
  DROP,

  /**
   * The others take them over, and give them back when it joins in: see {@link Replica#partitions}.
   * Each step then sees all rows. A partition is read on the executor that takes it over: from
   * Spark's cache if it is there, also on another executor; else it is computed again, each time.
   * So persist rows that are expensive. Whoever takes over must have the memory for more rows than
   * its own.
   */
  TAKE_OVER,

  /** The others wait until Spark has started it again: each step needs all replicas. */
  WAIT
}

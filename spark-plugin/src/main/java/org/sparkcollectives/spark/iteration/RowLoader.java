package org.sparkcollectives.spark.iteration;

import java.io.Serializable;
import java.util.Iterator;

/**
 * Turns the rows of a rank into the rank's own data, once, before the first iteration.
 *
 * @param <T> the type of the rows
 * @param <D> the type of the data; it stays in the rank's memory, and need not be serializable
 */
@FunctionalInterface
public interface RowLoader<T, D> extends Serializable {

  /**
   * Returns the rank's data. Called once on each rank that has rows, and not on others; in an
   * elastic stage again by whoever takes the rows over.
   *
   * @param rows the rows of the rank's partition, at least one, in the order of the partition
   */
  D load(Iterator<T> rows) throws Exception;
}

package org.sparkcollectives.examples.benchmark;

import java.io.Serializable;
import java.util.function.Consumer;
import org.sparkcollectives.ProcessGroup;

/**
 * What each rank runs.
 *
 * @param <T> the type of a result
 */
@FunctionalInterface
interface RankProgram<T> extends Serializable {

  /**
   * Runs as one rank. Blocks until this rank is done.
   *
   * @param world the group of all ranks
   * @param results takes the results, on rank 0
   */
  void run(ProcessGroup world, Consumer<T> results);
}

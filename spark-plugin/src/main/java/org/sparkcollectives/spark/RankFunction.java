package org.sparkcollectives.spark;

import java.io.Serializable;
import java.util.Iterator;
import org.sparkcollectives.ProcessGroup;

/**
 * The function that each rank of a {@link BarrierStage} runs.
 *
 * @param <T> the type of the rows that come in
 * @param <R> the type of the rows that go out
 */
@FunctionalInterface
public interface RankFunction<T, R> extends Serializable {

  /**
   * Runs as one rank.
   *
   * @param world the group of all ranks of the stage; closed when the task ends
   * @param rows the rows of the rank's partition; there may be none
   * @return the rows of the resulting partition
   */
  Iterator<R> call(ProcessGroup world, Iterator<T> rows) throws Exception;
}

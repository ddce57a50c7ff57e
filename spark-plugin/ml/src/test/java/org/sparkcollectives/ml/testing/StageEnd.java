package org.sparkcollectives.ml.testing;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.TaskContext;

/**
 * Ends the stage of a fit in the middle, once. With a stage retry, the ranks then start again and
 * go on from the last checkpoint.
 */
public final class StageEnd implements Serializable {

  private static final long serialVersionUID = 1;

  private final int rank;
  private final int step;
  private final String marker;

  /** Each task has a copy of its own. */
  private final AtomicInteger steps = new AtomicInteger();

  /**
   * Creates an end.
   *
   * @param rank that fails
   * @param step before which it fails, counted from 1
   * @param marker a file that is there afterwards
   */
  public StageEnd(int rank, int step, Path marker) {
    this.rank = rank;
    this.step = step;
    this.marker = marker.toString();
  }

  /** Called before each step of each rank. */
  public void beforeStep() {
    if (steps.incrementAndGet() == step && TaskContext.getPartitionId() == rank && isFirst()) {
      throw new IllegalStateException("The test ends the stage");
    }
  }

  private boolean isFirst() {
    try {
      Files.createFile(Path.of(marker));
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

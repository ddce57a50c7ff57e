package org.sparkcollectives.internal.group;

import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.PreparedCollective;

/** A collective that a user starts again and again, one start after the other. Thread-safe. */
final class PersistentOperation implements PersistentCollective {

  private final RankGroup group;
  private final String operation;

  /** Checks the values of the tensors before each start, as a plain call does. */
  private Runnable check;

  /** The backend's part; null once closed, so that the tensors can be freed. */
  private PreparedCollective prepared;

  /** The last start, or null. */
  private Work last;

  /**
   * Creates the operation.
   *
   * @param operation describes it, such as {@code all-reduce (float32 x 8, SUM)}
   * @param check of the values of the tensors, before each start
   * @param prepared the backend's part
   */
  PersistentOperation(
      RankGroup group, String operation, Runnable check, PreparedCollective prepared) {
    this.group = group;
    this.operation = operation;
    this.check = check;
    this.prepared = prepared;
  }

  @Override
  public synchronized Work start() {
    group.requireOpen();
    if (prepared == null) {
      throw refused("it is closed");
    }
    if (last != null && !last.isCompleted()) {
      throw refused(
          "its last start, #"
              + last.sequenceNumber()
              + ", is not done; await its work first, or prepare a second one on other tensors");
    }
    check.run();
    last = prepared.start();
    return group.coalescing().begun(last);
  }

  private IllegalStateException refused(String why) {
    return new IllegalStateException(
        "Rank "
            + group.rank()
            + " of group \""
            + group.name()
            + "\" cannot start the persistent "
            + operation
            + ": "
            + why);
  }

  @Override
  public synchronized void close() {
    check = null;
    prepared = null;
    last = null;
  }

  @Override
  public String toString() {
    return "PersistentCollective(" + operation + " of group \"" + group.name() + "\")";
  }
}

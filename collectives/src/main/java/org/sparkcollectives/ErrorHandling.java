package org.sparkcollectives;

/**
 * What becomes of a group, and of what hosts its ranks, when an operation fails or is overdue; the
 * modes of c10d's {@code ErrorHandlingMode}, with a Spark task in the place of the process.
 *
 * <p>In every mode the operation throws on the rank on which it failed, the flight recorder is
 * dumped, and no operation of the group works on that rank any more: nobody knows how much of the
 * failed one was done. No mode ends a JVM or stops the SparkContext.
 *
 * <p>What has become of a rank itself is told to all ranks in every mode, and ends the group on
 * each: that its code threw, that it called {@link ProcessGroup#abort}, that it was killed, that
 * its process is gone or unresponsive. The mode is about what follows from an operation. (With
 * {@link #NONE} the group is over on a rank on which an operation has failed: what becomes of that
 * rank afterwards is told to nobody.)
 *
 * @see GroupOptions#withErrorHandling
 */
public enum ErrorHandling {

  /**
   * The failure stays on its rank: no other is told, and none is accused. The others find out by
   * their own deadlines. It is written to the log.
   */
  NONE,

  /**
   * First as {@link #CLEAN_UP_ONLY}. A task that has not ended a second later is failed by Spark,
   * with the first cause as the reason, also when its code has swallowed the exception or is stuck
   * elsewhere; one that swallows and returns within that second fails, too.
   *
   * <p>The driver kills the task and interrupts its thread. A thread that does not react to
   * interrupts goes on until {@code spark.task.reaper.enabled} has its executor replaced. Outside
   * Spark there is no task to fail, see {@link RankContext#tearDown}.
   */
  TEAR_DOWN,

  /**
   * The group fails on all ranks, and pending and later operations throw there; what the code makes
   * of that is its own affair. The default.
   */
  CLEAN_UP_ONLY,

  /**
   * As {@link #TEAR_DOWN}, but at once: the driver kills the tasks on the first that a rank knows,
   * which may be a consequence of the first cause, and without waiting for operations to throw or
   * for dumps. What the group holds is let go when the task ends, as in the other modes.
   */
  SKIP_CLEAN_UP;

  /** Whether a failed operation of one rank ends the group on the others. */
  public boolean tellsOthers() {
    return this != NONE;
  }

  /** Whether what hosts the rank is to fail with the group. */
  public boolean tearsDown() {
    return this == TEAR_DOWN || this == SKIP_CLEAN_UP;
  }
}

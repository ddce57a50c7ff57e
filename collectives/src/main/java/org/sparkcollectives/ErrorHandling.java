package org.sparkcollectives;

/**
 * Decides what happens to a group, and to the tasks or processes of its ranks, when an operation
 * fails or is overdue. The modes are those of c10d's {@code ErrorHandlingMode}, with a Spark task
 * in place of the process.
 *
 * <p>In every mode the operation throws on the rank on which it failed, the flight recorder is
 * dumped, and no later operation of the group works on that rank, because nobody knows how much of
 * the failed one was done. No mode ends a JVM or stops the SparkContext.
 *
 * <p>The mode applies to failed operations only. In every mode the failure of a rank itself is
 * reported to all ranks and ends the group on each: that its code threw, that it called {@link
 * ProcessGroup#abort}, that it was killed, that its process is gone or unresponsive. (The exception
 * is a rank in mode {@link #NONE} on which an operation has failed: the group is over there, and
 * what happens to that rank afterwards is not reported.)
 *
 * @see GroupOptions#withErrorHandling
 */
public enum ErrorHandling {

  /**
   * Keeps the failure on its rank: it is not reported to other ranks, and no rank is accused. The
   * others notice by their own deadlines. The failure is logged.
   */
  NONE,

  /**
   * Does what {@link #CLEAN_UP_ONLY} does, and then has Spark fail a task that has not ended a
   * second later, with the first cause as the reason, even if its code has swallowed the exception
   * or is stuck elsewhere. A task that swallows the exception and returns within that second fails,
   * too.
   *
   * <p>The driver kills the task and interrupts its thread. A thread that does not react to
   * interrupts goes on until {@code spark.task.reaper.enabled} has its executor replaced. Outside
   * Spark there is no task to fail, see {@link org.sparkcollectives.spi.RankContext#tearDown}.
   */
  TEAR_DOWN,

  /**
   * Fails the group on all ranks. Pending and later operations throw there, and the user's code
   * decides what to do about it. The default.
   */
  CLEAN_UP_ONLY,

  /**
   * Does what {@link #TEAR_DOWN} does, but at once: the driver kills the tasks as soon as a rank
   * knows of any failure, which may be a consequence of the first cause, without waiting for
   * operations to throw or for dumps. What the group holds is released when the task ends, as in
   * the other modes.
   */
  SKIP_CLEAN_UP;

  /** Returns whether a failed operation of one rank ends the group on the others. */
  public boolean reportsToOthers() {
    return this != NONE;
  }

  /** Returns whether what hosts the rank must fail with the group. */
  public boolean tearsDown() {
    return this == TEAR_DOWN || this == SKIP_CLEAN_UP;
  }
}

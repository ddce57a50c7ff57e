package org.sparkcollectives.join;

/** Runs, on a rank without rows, the collectives of the others' steps. */
public interface JoinHook {

  /**
   * Takes part in one step of the ranks that still have rows: runs the collectives they run, in
   * their order. Called on the thread of {@link Join#run}, and may block as long as those do.
   *
   * @param step what the ranks have told each other at the beginning of this step; already awaited
   */
  void shadowStep(JoinStep step);

  /**
   * Ends the join, once every rank has run out of rows. Called on every rank, so it may run
   * collectives.
   *
   * @param lastJoiner the rank, in the group of the joinables, whose state the others take over: of
   *     those that had the most steps the highest
   */
  void afterAllJoined(int lastJoiner);
}

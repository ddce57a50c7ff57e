package org.sparkcollectives.join;

/** What a rank without rows does in the steps of the others. */
public interface JoinHook {

  /** Takes part in one step of the ranks that still have rows: runs the collectives they run. */
  void shadowStep();

  /**
   * Ends the join, once every rank has run out of rows.
   *
   * @param lastJoiner whether this is the rank whose state the others take over
   */
  void afterAllJoined(boolean lastJoiner);
}

package org.sparkcollectives;

/** What {@link ProcessGroup#shrink} does with operations of the old group that are under way. */
public enum ShrinkMode {

  /**
   * They stay as they are: for a group that has failed, whose operations have ended, and for one on
   * which nothing is under way. c10d's {@code SHRINK_DEFAULT}.
   */
  DEFAULT,

  /**
   * The old group is aborted first, on every rank, so that operations that wait for an excluded
   * rank end with {@link CollectiveException}. c10d's {@code SHRINK_ABORT}.
   */
  ABORT
}

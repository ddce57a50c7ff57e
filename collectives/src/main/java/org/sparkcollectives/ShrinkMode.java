package org.sparkcollectives;

/** Decides what {@link ProcessGroup#shrink} does with pending operations of the old group. */
public enum ShrinkMode {

  /**
   * Leaves them as they are: for a group that has failed, whose operations have ended, and for one
   * without pending operations. c10d's {@code SHRINK_DEFAULT}.
   */
  DEFAULT,

  /**
   * Aborts the old group first, on every rank, so that operations that wait for an excluded rank
   * end with {@link CollectiveException}. c10d's {@code SHRINK_ABORT}.
   */
  ABORT
}

package org.sparkcollectives.engine;

/** What a rank does in its turn among the group's collectives: all of an operation, or a part. */
interface ChannelTask {

  /** The number of the operation. */
  long sequenceNumber();

  /** Does it on this thread; called once. What goes wrong ends the operation, and is not thrown. */
  void run();

  /** Whether nothing is left to run. */
  boolean hasRun();

  /** Whether the operation is over. */
  boolean isCompleted();

  /** A part has failed, on whichever thread, while others may be under way. Does not block. */
  void partFailed(Throwable cause);
}

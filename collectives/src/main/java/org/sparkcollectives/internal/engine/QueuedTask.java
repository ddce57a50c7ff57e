package org.sparkcollectives.internal.engine;

/** A task of an operation that an {@link OperationQueue} runs: all of the operation, or a part. */
interface QueuedTask {

  /** Returns the number of the operation. */
  long sequenceNumber();

  /** Runs the task on this thread; called once. A failure ends the operation and is not thrown. */
  void run();

  /** Returns whether nothing is left to run. */
  boolean hasRun();

  /** Returns whether the operation has ended. */
  boolean isCompleted();

  /** Reports that a part has failed, on any thread, while others may be running. Does not block. */
  void partFailed(Throwable cause);
}

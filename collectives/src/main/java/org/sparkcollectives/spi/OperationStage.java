package org.sparkcollectives.spi;

/**
 * Runs before and after an operation in host memory, on the thread that runs the operation: for
 * example the copies from and to a device. Both parts count towards the operation's time, and what
 * they throw is the operation's failure. They may block, but must end when the group fails, see
 * {@link BackendOperations#hasFailed}.
 */
public interface OperationStage {

  /** Runs when it is the operation's turn, before anything is exchanged with other ranks. */
  void before();

  /** Runs when the operation has succeeded, before its waiters are woken. */
  void after();
}

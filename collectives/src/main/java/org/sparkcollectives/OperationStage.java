package org.sparkcollectives;

/**
 * What goes before and after an operation in host memory, on the thread that runs it: such as the
 * copies from and to a device. Both are within the operation's time, and what they throw is the
 * operation's failure. They may block, but must end when the group fails, see {@link
 * BackendOperations#hasFailed}.
 */
public interface OperationStage {

  /** Run in the operation's turn, before anything is exchanged with other ranks. */
  void before();

  /** Run when the operation is done well, before anybody sees it. */
  void after();
}

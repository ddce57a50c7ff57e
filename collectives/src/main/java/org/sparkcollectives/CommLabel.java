package org.sparkcollectives;

/**
 * A label for the operations that a thread calls in a group, see {@link ProcessGroup#recordComm}.
 *
 * <pre>{@code
 * try (CommLabel label = group.recordComm("gradients")) {
 *   group.allReduce(gradients).await();
 * }
 * }</pre>
 */
public interface CommLabel extends AutoCloseable {

  /** Returns the label. */
  String name();

  /**
   * Ends the label: operations that the thread calls from now on have the label from before, if
   * there was one. Closing it again does nothing.
   *
   * @throws IllegalStateException on another thread than that which began it
   */
  @Override
  void close();
}

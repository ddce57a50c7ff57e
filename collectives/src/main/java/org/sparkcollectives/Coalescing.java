package org.sparkcollectives;

/**
 * A block of operations that are awaited as one, see {@link ProcessGroup#coalesce}.
 *
 * <pre>{@code
 * Coalescing block = group.coalesce();
 * try (block) {
 *   group.allGather(firstOutput, firstInput);
 *   group.allGather(secondOutput, secondInput);
 * }
 * block.work().await();
 * }</pre>
 */
public interface Coalescing extends AutoCloseable {

  /**
   * Returns one work for all operations that were begun in the block.
   *
   * @throws IllegalStateException before the block is closed
   */
  Work work();

  /** Ends the block. Does not wait for its operations. */
  @Override
  void close();
}

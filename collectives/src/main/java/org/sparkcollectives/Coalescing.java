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
   * Returns one work for all operations that were begun in the block. It has ended when all of them
   * have, though one has failed: until then their tensors are in use.
   *
   * @throws IllegalStateException before the block is closed
   */
  Work work();

  /** Ends the block. Does not wait for its operations. */
  @Override
  void close();
}

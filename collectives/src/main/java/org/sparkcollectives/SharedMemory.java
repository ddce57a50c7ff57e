package org.sparkcollectives;

/**
 * Memory of this rank that another process of its host can map, such as the Python worker that the
 * rank computes for; see {@link ProcessGroup#allocateShared}.
 *
 * <p>The other process opens {@link #path}, makes sure that the file begins with {@link #nonce},
 * and maps it; {@link #begin} bytes on is the first byte of this memory. It is in the native byte
 * order, and nothing is locked: whose turn it is to write is for the two processes to agree on.
 */
public interface SharedMemory extends AutoCloseable {

  /** The size in bytes. */
  long bytes();

  /**
   * Where another process of this host, with the same user, opens the file. It has no other name,
   * so that no kill can leave it behind, and goes with the last process that has it mapped.
   */
  String path();

  /** What the file begins with, drawn at random. A copy. */
  byte[] nonce();

  /** Where this memory begins in the file, in bytes. */
  long begin();

  /**
   * A tensor of one dimension in this memory. Where the group has a path over which its ranks reach
   * each other's memory, it is as good as one of {@link ProcessGroup#allocate}.
   *
   * @param offset where it begins, in bytes
   * @throws IllegalArgumentException if it is not all within this memory
   * @throws IllegalStateException after {@link #close}
   */
  Tensor tensor(DType dtype, long offset, long count);

  /**
   * Unmaps the memory in this process, as soon as no thread reads or writes a tensor in it; tensors
   * in it throw {@link IllegalStateException} from then on, in operations that are under way, too.
   * The close of the group does the same. Does not block.
   */
  @Override
  void close();
}

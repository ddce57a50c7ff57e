package org.sparkcollectives;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Memory of this rank that another process of its host can map, such as the Python worker that the
 * rank computes for; see {@link ProcessGroup#allocateShared}.
 *
 * <p>The other process opens {@link #path}, checks that the file begins with {@link #nonce}, and
 * maps it; the first byte of this memory is at {@link #begin}. It is in the native byte order.
 * Nothing is locked: the two processes must agree on who may write when.
 */
public interface SharedMemory extends AutoCloseable {

  /**
   * Creates memory that belongs to no group, filled with zeros. The caller closes it.
   *
   * @param folder where its file is made, on a file system in memory such as {@code /dev/shm}; the
   *     file has no name there afterwards
   * @throws IOException if there is no room, or if it would be larger than a buffer can be
   */
  static SharedMemory create(Path folder, long bytes) throws IOException {
    return Library.as(SharedMemoryProvider.class).sharedMemory(folder, bytes);
  }

  /**
   * Opens memory that another process of this host, with the same user, has made, or another rank
   * of this process. It stays as long as somebody has it open, also when its maker has closed it.
   * The caller closes it.
   *
   * @param path the maker's {@link #path}; the maker must still have it open
   * @param nonce the maker's {@link #nonce}
   * @param bytes the maker's {@link #bytes}
   * @throws IOException if it is not on this host, is closed, or is another file
   */
  static SharedMemory open(String path, byte[] nonce, long bytes) throws IOException {
    return Library.as(SharedMemoryProvider.class).openSharedMemory(path, nonce, bytes);
  }

  /** Returns the size in bytes. */
  long bytes();

  /**
   * Returns the path at which another process of this host, with the same user, opens the file. The
   * file has no other name, so a killed process cannot leave it behind, and it is freed when the
   * last process unmaps it.
   */
  String path();

  /** Returns the random bytes with which the file begins. A copy. */
  byte[] nonce();

  /** Returns where this memory begins in the file, in bytes. */
  long begin();

  /**
   * Lets other ranks write their results straight into this memory, which makes an all-reduce of
   * large tensors in it faster where the ranks are processes of one host. Otherwise a rank copies
   * the others' results itself.
   *
   * <p>For memory whose contents nobody needs once an operation on it has failed. After a failure
   * another rank, which was only stopped for a while, may go on to write to it for as long as it
   * has it mapped, so it must never be used again. Call it before the first operation on a tensor
   * in it.
   *
   * @return this memory
   */
  SharedMemory asScratch();

  /**
   * Returns a tensor of one dimension in this memory. Where the group has a path over which its
   * ranks reach each other's memory, it is as fast as one of {@link ProcessGroup#allocate}.
   *
   * @param offset where it begins, in bytes
   * @throws IllegalArgumentException if it is not all within this memory
   * @throws IllegalStateException after {@link #close}
   */
  Tensor tensor(DType dtype, long offset, long count);

  /**
   * Unmaps the memory in this process, as soon as no thread reads or writes a tensor in it. Tensors
   * in it throw {@link IllegalStateException} from then on, even in operations that are under way.
   * Closing the group does the same. Does not block.
   */
  @Override
  void close();
}

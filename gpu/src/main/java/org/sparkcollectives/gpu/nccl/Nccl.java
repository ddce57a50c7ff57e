package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;

/**
 * What this library asks of NCCL. Handles and addresses are NCCL's and CUDA's own, as numbers.
 *
 * <p>Calls return NCCL's {@code ncclResult_t}, see {@link NcclResult}: of a communicator that is
 * not blocking, each may be {@link NcclResult#IN_PROGRESS}. The device of the communicator must be
 * that of the calling thread. Thread-safe, but a communicator is for one thread at a time, and none
 * may be within a call when it is aborted.
 */
public interface Nccl {

  /** The size of a unique id. */
  int UNIQUE_ID_BYTES = 128;

  /** {@code newcomm} of {@link #commSplit} for a rank that is in none of the new ones. */
  int NO_COLOR = -1;

  /** {@link #commShrink} of a communicator on which nothing is under way. */
  int SHRINK_DEFAULT = 0;

  /** The version, such as 22809 of 2.28.9. */
  int version();

  /** What a result means. */
  String errorString(int result);

  /** The last that went wrong in a communicator, or in any if it is 0; may be empty. */
  String lastError(long communicator);

  /** Whether {@link #commShrink} is there: since 2.27. */
  boolean canShrink();

  /** Whether {@link #allToAll} is there: since 2.28. */
  boolean canAllToAll();

  /** Writes an id by which the ranks of a communicator find each other. */
  int uniqueId(byte[] id);

  /**
   * Begins to make a communicator.
   *
   * @param slot 8 bytes off the heap, which later receive the handle: to be kept until they have
   * @param ids one or several unique ids, one after the other, the same on all ranks
   * @param configuration see {@link NcclSettings}
   */
  int commInit(ByteBuffer slot, int size, int rank, byte[] ids, ByteBuffer configuration);

  /**
   * Begins to make communicators of parts of another's ranks, for which all of them call.
   *
   * @param color the ranks with the same are together; {@link #NO_COLOR} for none
   * @param key by which ranks are ordered
   */
  int commSplit(long communicator, int color, int key, ByteBuffer slot, ByteBuffer configuration);

  /** Begins to make a communicator without some ranks, for which the others call. */
  int commShrink(
      long communicator, int[] excluded, ByteBuffer slot, ByteBuffer configuration, int flags);

  /** Has a communicator do what is under way, before {@link #commDestroy}. */
  int commFinalize(long communicator);

  /** Lets go of a communicator; may block for its peers unless it is finalized. */
  int commDestroy(long communicator);

  /** Ends what is under way in a communicator, and lets go of it; may block for a while. */
  int commAbort(long communicator);

  /** How a communicator is: in progress, well, or failed. */
  int asyncError(long communicator);

  /**
   * Tells NCCL of memory that operations will use again and again.
   *
   * @param slot 8 bytes off the heap, which receive a handle
   */
  int commRegister(long communicator, long address, long bytes, ByteBuffer slot);

  /** Undoes {@link #commRegister}. */
  int commDeregister(long communicator, long handle);

  /**
   * Memory on the current device that NCCL reaches in the fastest way.
   *
   * @param slot 8 bytes off the heap, which receive the address
   */
  int memAlloc(ByteBuffer slot, long bytes);

  /** Frees what {@link #memAlloc} gave. */
  int memFree(long address);

  /** What follows is begun together, at {@link #groupEnd}. */
  int groupStart();

  /** Begins what was called since {@link #groupStart}. */
  int groupEnd();

  /** In place if both addresses are the same. */
  int allReduce(
      long send, long receive, long count, int type, int op, long communicator, long stream);

  /** The addresses may be the same; {@code receive} counts at the root only. */
  int reduce(
      long send,
      long receive,
      long count,
      int type,
      int op,
      int root,
      long communicator,
      long stream);

  /** The addresses may be the same; {@code send} counts at the root only. */
  int broadcast(
      long send, long receive, long count, int type, int root, long communicator, long stream);

  /** {@code count} elements of each rank. */
  int allGather(long send, long receive, long count, int type, long communicator, long stream);

  /** {@code count} elements for each rank. */
  int reduceScatter(
      long send, long receive, long count, int type, int op, long communicator, long stream);

  /** {@code count} elements of each rank for each rank; the memory must not be the same. */
  int allToAll(long send, long receive, long count, int type, long communicator, long stream);

  /** To a peer, which calls {@link #receive}. */
  int send(long address, long count, int type, int peer, long communicator, long stream);

  /** From a peer, which calls {@link #send}. */
  int receive(long address, long count, int type, int peer, long communicator, long stream);

  /**
   * A reduction that multiplies by a factor, then adds.
   *
   * @param slot 4 bytes off the heap, which receive the reduction
   * @param factor one element of the type, off the heap, read by this call
   */
  int preMulSum(ByteBuffer slot, ByteBuffer factor, int type, long communicator);

  /** Undoes {@link #preMulSum}; operations that were begun with it go on. */
  int destroyOp(int op, long communicator);
}

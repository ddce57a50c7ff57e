package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;

/**
 * The functions of NCCL that this library uses. Handles and addresses are NCCL's and CUDA's own, as
 * numbers.
 *
 * <p>Calls return NCCL's {@code ncclResult_t}, see {@link NcclResult}: for a nonblocking
 * communicator, each may be {@link NcclResult#IN_PROGRESS}. The device of the communicator must be
 * current on the calling thread. Thread-safe, but only one thread at a time may call NCCL for a
 * communicator, and none may be inside a call when it is aborted.
 */
public interface Nccl {

  /** The size of a unique id in bytes. */
  int UNIQUE_ID_BYTES = 128;

  /**
   * The {@code color} of {@link #commSplit} for a rank that is in none of the new communicators.
   */
  int NO_COLOR = -1;

  /**
   * The {@code flags} of {@link #commShrink} for a communicator on which no operation is in
   * progress.
   */
  int SHRINK_DEFAULT = 0;

  /** Returns the version, such as 22809 for 2.28.9. */
  int version();

  /** Returns the meaning of a result. */
  String errorString(int result);

  /** Returns the last error in a communicator, or in any if it is 0; may be empty. */
  String lastError(long communicator);

  /** Returns whether {@link #commShrink} exists: since 2.27. */
  boolean canShrink();

  /** Returns whether {@link #allToAll} exists: since 2.28. */
  boolean canAllToAll();

  /** Writes an id by which the ranks of a communicator find each other. */
  int uniqueId(byte[] id);

  /**
   * Begins to create a communicator.
   *
   * @param slot 8 bytes off the heap, into which NCCL later writes the handle: to be kept until
   *     then
   * @param ids one or several unique ids, one after the other, the same on all ranks
   * @param configuration see {@link NcclSettings}
   */
  int commInit(ByteBuffer slot, int size, int rank, byte[] ids, ByteBuffer configuration);

  /**
   * Begins to create communicators of parts of another's ranks. All ranks of the other must call
   * this.
   *
   * @param color ranks with the same color are together; {@link #NO_COLOR} for none
   * @param key the order of the ranks
   */
  int commSplit(long communicator, int color, int key, ByteBuffer slot, ByteBuffer configuration);

  /** Begins to create a communicator without some ranks. All others must call this. */
  int commShrink(
      long communicator, int[] excluded, ByteBuffer slot, ByteBuffer configuration, int flags);

  /** Makes a communicator complete its operations, before {@link #commDestroy}. */
  int commFinalize(long communicator);

  /** Releases a communicator. May block for its peers unless it is finalized. */
  int commDestroy(long communicator);

  /** Aborts the operations of a communicator, and releases it. May block for a while. */
  int commAbort(long communicator);

  /** Returns the state of a communicator: in progress, ready, or failed. */
  int asyncError(long communicator);

  /**
   * Registers memory with NCCL that operations will use repeatedly.
   *
   * @param slot 8 bytes off the heap, which receive a handle
   */
  int commRegister(long communicator, long address, long bytes, ByteBuffer slot);

  /** Undoes {@link #commRegister}. */
  int commDeregister(long communicator, long handle);

  /**
   * Allocates memory on the current device that NCCL accesses in the fastest way.
   *
   * @param slot 8 bytes off the heap, which receive the address
   */
  int memAlloc(ByteBuffer slot, long bytes);

  /** Frees memory from {@link #memAlloc}. */
  int memFree(long address);

  /** Begins a group of calls, which {@link #groupEnd} starts together. */
  int groupStart();

  /** Starts the calls since {@link #groupStart}. */
  int groupEnd();

  /** Reduces to all ranks; in place if both addresses are the same. */
  int allReduce(
      long send, long receive, long count, int type, int op, long communicator, long stream);

  /**
   * Reduces to the root. The addresses may be the same; {@code receive} is used at the root only.
   */
  int reduce(
      long send,
      long receive,
      long count,
      int type,
      int op,
      int root,
      long communicator,
      long stream);

  /**
   * Broadcasts from the root. The addresses may be the same; {@code send} is used at the root only.
   */
  int broadcast(
      long send, long receive, long count, int type, int root, long communicator, long stream);

  /** Gathers {@code count} elements of each rank on all ranks. */
  int allGather(long send, long receive, long count, int type, long communicator, long stream);

  /** Reduces, and scatters {@code count} elements to each rank. */
  int reduceScatter(
      long send, long receive, long count, int type, int op, long communicator, long stream);

  /**
   * Exchanges {@code count} elements of each rank for each rank; the memory must not be the same.
   */
  int allToAll(long send, long receive, long count, int type, long communicator, long stream);

  /** Sends to a peer, which calls {@link #receive}. */
  int send(long address, long count, int type, int peer, long communicator, long stream);

  /** Receives from a peer, which calls {@link #send}. */
  int receive(long address, long count, int type, int peer, long communicator, long stream);

  /**
   * Creates a reduction that multiplies by a factor, then adds.
   *
   * @param slot 4 bytes off the heap, which receive the reduction
   * @param factor one element of the type, off the heap, read by this call
   */
  int preMulSum(ByteBuffer slot, ByteBuffer factor, int type, long communicator);

  /** Undoes {@link #preMulSum}. Operations that have started with it continue. */
  int destroyOp(int op, long communicator);
}

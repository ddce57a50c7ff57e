package org.sparkcollectives.gpu.nccl;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The NCCL library of this machine, called through JNA. One per process: a second path is refused.
 */
public final class NativeNccl implements Nccl {

  private static final Logger LOG = LoggerFactory.getLogger(NativeNccl.class);
  private static final int IN_HOST_MEMORY = 1;

  private static NativeNccl loaded;
  private static String loadedAs;

  private final int version;

  /** Null if the library is too old to have it. */
  private final Function shrink;

  private final boolean allToAll;

  private NativeNccl(NcclLibrary library) {
    int[] found = new int[1];
    NcclFunctions.ncclGetVersion(found);
    this.version = found[0];
    this.shrink = library.newer("ncclCommShrink");
    this.allToAll = library.bind(NcclFunctions.Since228.class);
    LOG.info("NCCL {} at {}", NcclLibrary.text(version), library);
  }

  /**
   * Returns the library, which the first call loads.
   *
   * @param configured its path, or an empty text for the usual paths
   * @throws NcclException naming every path that was tried
   */
  public static synchronized NativeNccl load(String configured) {
    if (loaded == null) {
      loaded = new NativeNccl(NcclLibrary.load(configured));
      loadedAs = configured;
    } else if (!loadedAs.equals(configured)) {
      throw new NcclException(
          "This process has loaded NCCL as \""
              + loadedAs
              + "\" already, and cannot load another as \""
              + configured
              + "\"; all groups of a process must name the same",
          null);
    }
    return loaded;
  }

  @Override
  public int version() {
    return version;
  }

  @Override
  public String errorString(int result) {
    return NcclFunctions.ncclGetErrorString(result);
  }

  @Override
  public String lastError(long communicator) {
    String text = NcclFunctions.ncclGetLastError(communicator);
    return text == null ? "" : text.strip();
  }

  @Override
  public boolean canShrink() {
    return shrink != null;
  }

  @Override
  public boolean canAllToAll() {
    return allToAll;
  }

  @Override
  public int uniqueId(byte[] id) {
    return NcclFunctions.ncclGetUniqueId(id);
  }

  @Override
  public int commInit(ByteBuffer slot, int size, int rank, byte[] ids, ByteBuffer configuration) {
    if (ids.length == UNIQUE_ID_BYTES) {
      NcclFunctions.UniqueId id = new NcclFunctions.UniqueId();
      System.arraycopy(ids, 0, id.internal, 0, UNIQUE_ID_BYTES);
      try {
        return NcclFunctions.ncclCommInitRankConfig(
            pointer(slot), size, id, rank, pointer(configuration));
      } finally {
        keep(slot, configuration);
      }
    }
    try (Memory all = new Memory(ids.length)) {
      all.write(0, ids, 0, ids.length);
      return NcclFunctions.ncclCommInitRankScalable(
          pointer(slot), size, rank, ids.length / UNIQUE_ID_BYTES, all, pointer(configuration));
    } finally {
      keep(slot, configuration);
    }
  }

  /** Keeps buffers reachable until a call has returned: NCCL has their addresses. */
  @SuppressWarnings("ReachabilityFenceUsage") // The method is itself called after the call.
  private static void keep(ByteBuffer... direct) {
    for (ByteBuffer each : direct) {
      Reference.reachabilityFence(each);
    }
  }

  private static Pointer pointer(ByteBuffer direct) {
    return Native.getDirectBufferPointer(direct);
  }

  @Override
  public int commSplit(
      long communicator, int color, int key, ByteBuffer slot, ByteBuffer configuration) {
    try {
      return NcclFunctions.ncclCommSplit(
          communicator, color, key, pointer(slot), pointer(configuration));
    } finally {
      keep(slot, configuration);
    }
  }

  @Override
  public int commShrink(
      long communicator, int[] excluded, ByteBuffer slot, ByteBuffer configuration, int flags) {
    try {
      return shrink.invokeInt(
          new Object[] {
            new Pointer(communicator),
            excluded,
            excluded.length,
            pointer(slot),
            pointer(configuration),
            flags
          });
    } finally {
      keep(slot, configuration);
    }
  }

  @Override
  public int commFinalize(long communicator) {
    return NcclFunctions.ncclCommFinalize(communicator);
  }

  @Override
  public int commDestroy(long communicator) {
    return NcclFunctions.ncclCommDestroy(communicator);
  }

  @Override
  public int commAbort(long communicator) {
    return NcclFunctions.ncclCommAbort(communicator);
  }

  @Override
  public int asyncError(long communicator) {
    int[] error = new int[1];
    int result = NcclFunctions.ncclCommGetAsyncError(communicator, error);
    return result == NcclResult.SUCCESS ? error[0] : result;
  }

  @Override
  public int commRegister(long communicator, long address, long bytes, ByteBuffer slot) {
    return NcclFunctions.ncclCommRegister(communicator, address, bytes, pointer(slot));
  }

  @Override
  public int commDeregister(long communicator, long handle) {
    return NcclFunctions.ncclCommDeregister(communicator, handle);
  }

  @Override
  public int memAlloc(ByteBuffer slot, long bytes) {
    return NcclFunctions.ncclMemAlloc(pointer(slot), bytes);
  }

  @Override
  public int memFree(long address) {
    return NcclFunctions.ncclMemFree(address);
  }

  @Override
  public int groupStart() {
    return NcclFunctions.ncclGroupStart();
  }

  @Override
  public int groupEnd() {
    return NcclFunctions.ncclGroupEnd();
  }

  @Override
  public int allReduce(
      long send, long receive, long count, int type, int op, long communicator, long stream) {
    return NcclFunctions.ncclAllReduce(send, receive, count, type, op, communicator, stream);
  }

  @Override
  public int reduce(
      long send,
      long receive,
      long count,
      int type,
      int op,
      int root,
      long communicator,
      long stream) {
    return NcclFunctions.ncclReduce(send, receive, count, type, op, root, communicator, stream);
  }

  @Override
  public int broadcast(
      long send, long receive, long count, int type, int root, long communicator, long stream) {
    return NcclFunctions.ncclBroadcast(send, receive, count, type, root, communicator, stream);
  }

  @Override
  public int allGather(
      long send, long receive, long count, int type, long communicator, long stream) {
    return NcclFunctions.ncclAllGather(send, receive, count, type, communicator, stream);
  }

  @Override
  public int reduceScatter(
      long send, long receive, long count, int type, int op, long communicator, long stream) {
    return NcclFunctions.ncclReduceScatter(send, receive, count, type, op, communicator, stream);
  }

  @Override
  public int allToAll(
      long send, long receive, long count, int type, long communicator, long stream) {
    return NcclFunctions.Since228.ncclAlltoAll(send, receive, count, type, communicator, stream);
  }

  @Override
  public int send(long address, long count, int type, int peer, long communicator, long stream) {
    return NcclFunctions.ncclSend(address, count, type, peer, communicator, stream);
  }

  @Override
  public int receive(long address, long count, int type, int peer, long communicator, long stream) {
    return NcclFunctions.ncclRecv(address, count, type, peer, communicator, stream);
  }

  @Override
  public int preMulSum(ByteBuffer slot, ByteBuffer factor, int type, long communicator) {
    try {
      return NcclFunctions.ncclRedOpCreatePreMulSum(
          pointer(slot), pointer(factor), type, IN_HOST_MEMORY, communicator);
    } finally {
      keep(slot, factor);
    }
  }

  @Override
  public int destroyOp(int op, long communicator) {
    return NcclFunctions.ncclRedOpDestroy(op, communicator);
  }
}

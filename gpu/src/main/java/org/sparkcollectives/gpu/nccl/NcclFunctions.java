package org.sparkcollectives.gpu.nccl;

import com.sun.jna.Pointer;
import com.sun.jna.Structure;

/**
 * The functions of libnccl, by their names in C; {@link NcclLibrary} binds them. All of them exist
 * since 2.23, except those of the inner class.
 */
final class NcclFunctions {

  private NcclFunctions() {}

  /** The functions that exist since 2.28.3. */
  static final class Since228 {

    private Since228() {}

    static native int ncclAlltoAll(
        long send, long receive, long count, int type, long comm, long stream);
  }

  /** The 128 bytes of an id, which are passed by value. */
  @Structure.FieldOrder("internal")
  public static final class UniqueId extends Structure implements Structure.ByValue {
    /** The bytes. */
    public byte[] internal = new byte[Nccl.UNIQUE_ID_BYTES];
  }

  static native int ncclGetVersion(int[] version);

  static native String ncclGetErrorString(int result);

  static native String ncclGetLastError(long comm);

  static native int ncclGetUniqueId(byte[] id);

  static native int ncclCommInitRankConfig(
      Pointer comm, int size, UniqueId id, int rank, Pointer config);

  static native int ncclCommInitRankScalable(
      Pointer comm, int size, int rank, int ids, Pointer id, Pointer config);

  static native int ncclCommSplit(long comm, int color, int key, Pointer newComm, Pointer config);

  static native int ncclCommFinalize(long comm);

  static native int ncclCommDestroy(long comm);

  static native int ncclCommAbort(long comm);

  static native int ncclCommGetAsyncError(long comm, int[] error);

  static native int ncclCommRegister(long comm, long address, long bytes, Pointer handle);

  static native int ncclCommDeregister(long comm, long handle);

  static native int ncclMemAlloc(Pointer address, long bytes);

  static native int ncclMemFree(long address);

  static native int ncclGroupStart();

  static native int ncclGroupEnd();

  static native int ncclAllReduce(
      long send, long receive, long count, int type, int op, long comm, long stream);

  static native int ncclReduce(
      long send, long receive, long count, int type, int op, int root, long comm, long stream);

  static native int ncclBroadcast(
      long send, long receive, long count, int type, int root, long comm, long stream);

  static native int ncclAllGather(
      long send, long receive, long count, int type, long comm, long stream);

  static native int ncclReduceScatter(
      long send, long receive, long count, int type, int op, long comm, long stream);

  static native int ncclSend(long address, long count, int type, int peer, long comm, long stream);

  static native int ncclRecv(long address, long count, int type, int peer, long comm, long stream);

  static native int ncclRedOpCreatePreMulSum(
      Pointer op, Pointer scalar, int type, int residence, long comm);

  static native int ncclRedOpDestroy(int op, long comm);
}

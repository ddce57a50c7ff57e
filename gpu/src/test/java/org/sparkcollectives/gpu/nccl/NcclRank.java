package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.store.Store;

/** A rank that calls NCCL through the bindings alone, and the calls that all checks share. */
final class NcclRank {

  static final int FLOAT32 = 7;
  static final int SUM = 0;

  final Nccl nccl = NativeNccl.load("");
  final int rank;
  final int size;
  final Store store;
  final CudaDevice device;
  final CudaStream stream;

  /** The memory into which NCCL writes handles. */
  final ByteBuffer slot = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder());

  NcclRank(int rank, int size, Store store, CudaDevice device, CudaStream stream) {
    this.rank = rank;
    this.size = size;
    this.store = store;
    this.device = device;
    this.stream = stream;
  }

  /** Begins to create a communicator from a number of unique ids; returns the result. */
  int begin(boolean blocking, int ids) {
    byte[] all = new byte[ids * Nccl.UNIQUE_ID_BYTES];
    for (int root = 0; root < ids; root++) {
      if (rank == root) {
        byte[] id = new byte[Nccl.UNIQUE_ID_BYTES];
        check(nccl.uniqueId(id));
        store.set("id" + root, id);
      }
      System.arraycopy(
          store.get("id" + root), 0, all, root * Nccl.UNIQUE_ID_BYTES, Nccl.UNIQUE_ID_BYTES);
    }
    return nccl.commInit(slot, size, rank, all, new NcclSettings(blocking).encode());
  }

  /** Creates a communicator from a number of unique ids, and returns its handle. */
  long init(boolean blocking, int ids) {
    int result = begin(blocking, ids);
    assertThat(result).isEqualTo(blocking ? NcclResult.SUCCESS : NcclResult.IN_PROGRESS);
    long communicator = slot.getLong(0);
    assertThat(await(communicator)).isEqualTo(NcclResult.SUCCESS);
    return communicator;
  }

  /** Returns the state of the communicator once it is no longer in progress. */
  int await(long communicator) {
    int result = nccl.asyncError(communicator);
    while (result == NcclResult.IN_PROGRESS) {
      Thread.onSpinWait();
      result = nccl.asyncError(communicator);
    }
    return result;
  }

  /** Checks that a call has succeeded. */
  void check(int result) {
    assertThat(result).as(() -> nccl.lastError(0)).isEqualTo(NcclResult.SUCCESS);
  }

  /** Waits for a call of a communicator, and checks that it has succeeded. */
  void check(long communicator, int result) {
    if (result == NcclResult.IN_PROGRESS) {
      check(await(communicator));
    } else {
      check(result);
    }
  }

  DeviceTensor tensor(float... values) {
    return DeviceTensor.copyOf(device, Tensor.of(values));
  }

  static float[] values(DeviceTensor tensor) {
    float[] values = new float[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  /** Begins to sum a tensor over all ranks; returns the result. */
  int sum(long communicator, DeviceTensor tensor) {
    return nccl.allReduce(
        tensor.address(),
        tensor.address(),
        tensor.count(),
        FLOAT32,
        SUM,
        communicator,
        stream.handle());
  }
}

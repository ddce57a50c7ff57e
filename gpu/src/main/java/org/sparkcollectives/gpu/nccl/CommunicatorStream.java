package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.gpu.DeviceTensor;

/**
 * A communicator and the stream of its operations: NCCL's calls in terms of tensors.
 *
 * <p>All calls are between NCCL's group start and end, so none of them blocks.
 */
final class CommunicatorStream {

  private final Nccl nccl;
  private final Communicator communicator;
  private final long stream;

  CommunicatorStream(Nccl nccl, Communicator communicator, long stream) {
    this.nccl = nccl;
    this.communicator = communicator;
    this.stream = stream;
  }

  private static long count(DeviceTensor tensor) {
    return tensor.count() * NcclTypes.elements(tensor.dtype());
  }

  private static int type(DeviceTensor tensor) {
    return NcclTypes.of(tensor.dtype());
  }

  /** A call of NCCL that takes the number of a reduction. */
  private interface Reducing {
    int call(int op);
  }

  private void reducing(String call, DType dtype, ReduceOp op, Reducing reducing) {
    if (op.kind() != ReduceOp.Kind.PREMUL_SUM) {
      communicator.checkBegun(call, reducing.call(NcclTypes.of(dtype, op)));
      return;
    }
    ByteBuffer number = ByteBuffer.allocateDirect(Integer.BYTES).order(ByteOrder.nativeOrder());
    communicator.checkBegun(
        "ncclRedOpCreatePreMulSum",
        nccl.preMulSum(
            number, factor(dtype, op.factor()), NcclTypes.of(dtype), communicator.handle()));
    try {
      communicator.checkBegun(call, reducing.call(number.getInt(0)));
    } finally {
      // Operations that have started with it continue.
      nccl.destroyOp(number.getInt(0), communicator.handle());
    }
  }

  /** Returns the factor as an element of the type that NCCL multiplies. */
  private static ByteBuffer factor(DType dtype, double factor) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(Double.BYTES).order(ByteOrder.nativeOrder());
    switch (dtype) {
      case FLOAT16 -> bytes.putShort(0, Float16.fromFloat((float) factor));
      case BFLOAT16 -> bytes.putShort(0, BFloat16.fromFloat((float) factor));
      case FLOAT32, COMPLEX64 -> bytes.putFloat(0, (float) factor);
      default -> bytes.putDouble(0, factor);
    }
    return bytes;
  }

  void allReduce(DeviceTensor tensor, ReduceOp op) {
    reducing(
        "ncclAllReduce",
        tensor.dtype(),
        op,
        number ->
            nccl.allReduce(
                tensor.address(),
                tensor.address(),
                count(tensor),
                type(tensor),
                number,
                communicator.handle(),
                stream));
  }

  /** Reduces to {@code output} at the root; elsewhere {@code output} is not written. */
  void reduce(DeviceTensor input, DeviceTensor output, ReduceOp op, int root) {
    reducing(
        "ncclReduce",
        input.dtype(),
        op,
        number ->
            nccl.reduce(
                input.address(),
                output.address(),
                count(input),
                type(input),
                number,
                root,
                communicator.handle(),
                stream));
  }

  /** Broadcasts from the root; elsewhere {@code input} is not read. */
  void broadcast(DeviceTensor input, DeviceTensor output, int root) {
    communicator.checkBegun(
        "ncclBroadcast",
        nccl.broadcast(
            input.address(),
            output.address(),
            count(output),
            type(output),
            root,
            communicator.handle(),
            stream));
  }

  void allGather(DeviceTensor output, DeviceTensor input) {
    communicator.checkBegun(
        "ncclAllGather",
        nccl.allGather(
            input.address(),
            output.address(),
            count(input),
            type(input),
            communicator.handle(),
            stream));
  }

  void reduceScatter(DeviceTensor output, DeviceTensor input, ReduceOp op) {
    reducing(
        "ncclReduceScatter",
        input.dtype(),
        op,
        number ->
            nccl.reduceScatter(
                input.address(),
                output.address(),
                count(output),
                type(output),
                number,
                communicator.handle(),
                stream));
  }

  /**
   * Exchanges equal parts, one from and for each rank. The method depends on NCCL's version alone,
   * which is the same on all ranks: older versions have no function for it.
   */
  void allToAll(DeviceTensor output, DeviceTensor input, int ranks) {
    long part = input.count() / ranks;
    if (nccl.canAllToAll()) {
      communicator.checkBegun(
          "ncclAlltoAll",
          nccl.allToAll(
              input.address(),
              output.address(),
              part * NcclTypes.elements(input.dtype()),
              type(input),
              communicator.handle(),
              stream));
      return;
    }
    for (int peer = 0; peer < ranks; peer++) {
      send(input.slice(peer * part, part), peer);
      receive(output.slice(peer * part, part), peer);
    }
  }

  /** Sends a tensor, unless it is empty: then the receiver expects nothing either. */
  void send(DeviceTensor tensor, int peer) {
    if (tensor.count() > 0) {
      communicator.checkBegun(
          "ncclSend",
          nccl.send(
              tensor.address(), count(tensor), type(tensor), peer, communicator.handle(), stream));
    }
  }

  void receive(DeviceTensor tensor, int peer) {
    if (tensor.count() > 0) {
      communicator.checkBegun(
          "ncclRecv",
          nccl.receive(
              tensor.address(), count(tensor), type(tensor), peer, communicator.handle(), stream));
    }
  }
}

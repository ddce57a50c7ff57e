package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.OperationSpec;

/**
 * Collectives and messages between GPUs over NCCL.
 *
 * <p>An operation starts when the earlier work in the caller's current stream is done, see {@link
 * org.sparkcollectives.gpu.cuda.CudaStream#use}, and runs in a stream of its own. {@link
 * Work#await()} blocks the host until it is done there; {@link Work#synchronize} makes a stream
 * wait for it.
 *
 * <p>An operation's name, and arguments that are the same on all ranks, determine which calls of
 * NCCL it makes: ranks that made different calls would hang. So lists are gathered and reduced
 * piece by piece, grouped into one launch, even if this rank's pieces happen to be contiguous.
 * {@code ncclGather} and {@code ncclScatter} are not used for them, because only the root knows
 * whether its pieces are equal and contiguous.
 *
 * <p>Messages between two ranks have a communicator of the two, created at the first message. NCCL
 * has no tags, so messages match in the order of the calls. A batch, and the calls in a {@link
 * org.sparkcollectives.Coalescing} block, use the group's communicator, in one launch.
 */
final class NcclBackend implements Backend {

  private final String name;
  private final NcclGroup group;

  NcclBackend(String name, NcclGroup group) {
    this.name = name;
    this.group = group;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void setNanCheck(boolean enabled) {
    group.setNanCheck(enabled);
  }

  @Override
  public void enableTiming() {
    group.enableTiming();
  }

  private DeviceTensor own(Tensor tensor) {
    return group.own(tensor);
  }

  private List<DeviceTensor> own(List<Tensor> tensors) {
    return tensors.stream().map(this::own).toList();
  }

  @Override
  public Work broadcast(Tensor tensor, int root, Duration timeout) {
    DeviceTensor own = own(tensor);
    OperationSpec spec = OperationSpec.broadcast(own, root);
    return group.collective(
        spec,
        timeout,
        List.of(own),
        group.rank() == root ? List.of(own) : List.of(),
        target -> target.broadcast(own, own, root));
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op, Duration timeout) {
    DeviceTensor own = own(tensor);
    NcclTypes.requireReducible(own.dtype(), op);
    OperationSpec spec = OperationSpec.allReduce(own, op);
    return group.collective(
        spec, timeout, List.of(own), List.of(own), target -> target.allReduce(own, op));
  }

  /**
   * Throws: NCCL has no such operation.
   *
   * @throws IllegalArgumentException always
   */
  @Override
  public Work allReduce(SparseTensor tensor, Duration timeout) {
    throw new IllegalArgumentException(
        "NCCL has no all-reduce of sparse tensors; the backend cuda:netty has, or use one of host"
            + " memory");
  }

  @Override
  public Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op, Duration timeout) {
    List<DeviceTensor> own = own(tensors);
    DType dtype = own.get(0).dtype();
    NcclTypes.requireReducible(dtype, op);
    OperationSpec spec = OperationSpec.allReduceCoalesced(own, op);
    return group.collective(
        spec, timeout, own, own, target -> own.forEach(each -> target.allReduce(each, op)));
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root, Duration timeout) {
    DeviceTensor own = own(tensor);
    NcclTypes.requireReducible(own.dtype(), op);
    OperationSpec spec = OperationSpec.reduce(own, op, root);
    return group.collective(
        spec, timeout, List.of(own), List.of(own), target -> target.reduce(own, own, op, root));
  }

  @Override
  public Work allGather(Tensor output, Tensor input, Duration timeout) {
    DeviceTensor to = own(output);
    DeviceTensor from = own(input);
    return group.collective(
        OperationSpec.allGather(to, from),
        timeout,
        List.of(to),
        List.of(from),
        target -> target.allGather(to, from));
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input, Duration timeout) {
    List<DeviceTensor> to = own(outputs);
    DeviceTensor from = own(input);
    return group.collective(
        OperationSpec.allGather(to, from),
        timeout,
        to,
        List.of(from),
        target -> {
          for (int root = 0; root < to.size(); root++) {
            // If an output is empty, that rank contributes nothing to any rank.
            if (to.get(root).count() > 0) {
              target.broadcast(from, to.get(root), root);
            }
          }
        });
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op, Duration timeout) {
    DeviceTensor to = own(output);
    DeviceTensor from = own(input);
    NcclTypes.requireReducible(from.dtype(), op);
    return group.collective(
        OperationSpec.reduceScatter(to, from, op),
        timeout,
        List.of(to),
        List.of(from),
        target -> target.reduceScatter(to, from, op));
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout) {
    DeviceTensor to = own(output);
    List<DeviceTensor> from = own(inputs);
    NcclTypes.requireReducible(to.dtype(), op);
    return group.collective(
        OperationSpec.reduceScatter(to, from, op),
        timeout,
        List.of(to),
        from,
        target -> {
          for (int root = 0; root < from.size(); root++) {
            if (from.get(root).count() > 0) {
              target.reduce(from.get(root), to, op, root);
            }
          }
        });
  }

  @Override
  public Work gather(List<Tensor> outputs, Tensor input, int root, Duration timeout) {
    List<DeviceTensor> to = own(outputs);
    DeviceTensor from = own(input);
    return group.collective(
        OperationSpec.gather(to, from, root),
        timeout,
        to,
        List.of(from),
        target -> {
          target.send(from, root);
          for (int peer = 0; peer < to.size(); peer++) {
            target.receive(to.get(peer), peer);
          }
        });
  }

  @Override
  public Work scatter(Tensor output, List<Tensor> inputs, int root, Duration timeout) {
    DeviceTensor to = own(output);
    List<DeviceTensor> from = own(inputs);
    return group.collective(
        OperationSpec.scatter(to, from, root),
        timeout,
        List.of(to),
        from,
        target -> {
          for (int peer = 0; peer < from.size(); peer++) {
            target.send(from.get(peer), peer);
          }
          target.receive(to, root);
        });
  }

  @Override
  public Work allToAll(Tensor output, Tensor input, Duration timeout) {
    DeviceTensor to = own(output);
    DeviceTensor from = own(input);
    return group.collective(
        OperationSpec.allToAll(to, from),
        timeout,
        List.of(to),
        List.of(from),
        target -> target.allToAll(to, from, group.size()));
  }

  @Override
  public Work allToAll(List<Tensor> outputs, List<Tensor> inputs, Duration timeout) {
    List<DeviceTensor> to = own(outputs);
    List<DeviceTensor> from = own(inputs);
    return group.collective(
        OperationSpec.allToAll(to, from),
        timeout,
        to,
        from,
        target -> {
          for (int peer = 0; peer < from.size(); peer++) {
            target.send(from.get(peer), peer);
            target.receive(to.get(peer), peer);
          }
        });
  }

  /**
   * Reduces one element over all ranks: done once all earlier work in each rank's stream is done.
   */
  @Override
  public Work barrier(Duration timeout) {
    DeviceTensor one = group.barrierElement();
    return group.collective(
        OperationSpec.barrier(),
        timeout,
        List.of(),
        // Kept as any other tensor: the kernel of a failed barrier may still run.
        List.of(one),
        target -> target.allReduce(one, ReduceOp.SUM));
  }

  @Override
  public Work send(Tensor tensor, int destination, int tag, Duration timeout) {
    DeviceTensor own = own(tensor);
    return group.message(
        OperationSpec.send(own, destination, tag),
        timeout,
        List.of(),
        List.of(own),
        (target, peer) -> target.send(own, peer));
  }

  @Override
  public Work recv(Tensor tensor, int source, int tag, Duration timeout) {
    DeviceTensor own = own(tensor);
    return group.message(
        OperationSpec.recv(own, source, tag),
        timeout,
        List.of(own),
        List.of(),
        (target, peer) -> target.receive(own, peer));
  }

  /**
   * Throws: NCCL must know the source.
   *
   * @throws IllegalArgumentException always
   */
  @Override
  public Work recvAny(Tensor tensor, int tag, Duration timeout) {
    throw new IllegalArgumentException(
        "NCCL cannot receive from whichever rank sends first; name the source, or use host memory");
  }

  @Override
  public List<Work> batch(List<P2POp> operations, Duration timeout) {
    Runnable end = beginCoalescing();
    try {
      return Backend.super.batch(operations, timeout);
    } finally {
      end.run();
    }
  }

  @Override
  public Runnable beginCoalescing() {
    return group.beginCoalescing();
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    return group.memory().allocate(dtype, count);
  }

  @Override
  public MemoryRegistration register(Tensor tensor) {
    return group.memory().register(own(tensor));
  }

  @Override
  public void takePartInSplit(Duration timeout) {
    group.communicators().takePartInSplit(timeout);
  }

  NcclGroup group() {
    return group;
  }

  @Override
  public void close() {
    group.close();
  }
}

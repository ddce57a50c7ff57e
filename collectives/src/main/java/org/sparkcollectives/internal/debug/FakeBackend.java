package org.sparkcollectives.internal.debug;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.DType;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.Backend;

/**
 * Carries out operations without any other rank, for dry runs of one rank of a large world: c10d's
 * fake process group.
 *
 * <p>Every operation is done at once. A gather finds this rank's own input for every rank. A
 * reduction leaves its tensor as it is. A receive leaves its tensor as it is, and a receive from
 * any rank names this rank as the source. The sum of sparse tensors is this rank's own.
 */
final class FakeBackend implements Backend {

  private static final int NO_SOURCE = -1;

  private final int rank;
  private final int size;
  private final AtomicLong collectives = new AtomicLong();
  private final AtomicLong messages = new AtomicLong();

  FakeBackend(int rank, int size) {
    this.rank = rank;
    this.size = size;
  }

  @Override
  public String name() {
    return FakeBackendProvider.NAME;
  }

  private Work done(OpType type, Tensor... outputs) {
    return done(type, List.of(outputs));
  }

  private Work done(OpType type, List<Tensor> outputs) {
    return done(type, outputs, NO_SOURCE, null);
  }

  private Work done(OpType type, List<Tensor> outputs, int source, SparseTensor sum) {
    AtomicLong numbers = type.isPointToPoint() ? messages : collectives;
    return new FakeWork(type, numbers.getAndIncrement(), List.copyOf(outputs), source, sum);
  }

  @Override
  public Optional<ObjectCollectives> objects() {
    return Optional.of(new FakeObjectCollectives(rank, size));
  }

  private static void copyTo(Tensor output, Tensor input) {
    if (output.count() == input.count()) {
      output.copyFrom(input);
    }
  }

  @Override
  public Work broadcast(Tensor tensor, int root, Duration timeout) {
    return done(OpType.BROADCAST, tensor);
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op, Duration timeout) {
    return done(OpType.ALL_REDUCE, tensor);
  }

  @Override
  public Work allReduce(SparseTensor tensor, Duration timeout) {
    return done(OpType.ALL_REDUCE_SPARSE, List.of(), NO_SOURCE, tensor);
  }

  @Override
  public Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op, Duration timeout) {
    return done(OpType.ALL_REDUCE_COALESCED, tensors);
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root, Duration timeout) {
    return done(OpType.REDUCE, tensor);
  }

  @Override
  public Work allGather(Tensor output, Tensor input, Duration timeout) {
    for (int peer = 0; peer < size; peer++) {
      copyTo(output.slice(peer * input.count(), input.count()), input);
    }
    return done(OpType.ALL_GATHER_INTO, output);
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input, Duration timeout) {
    outputs.forEach(output -> copyTo(output, input));
    return done(OpType.ALL_GATHER, outputs);
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op, Duration timeout) {
    copyTo(output, input.slice(rank * output.count(), output.count()));
    return done(OpType.REDUCE_SCATTER_INTO, output);
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout) {
    copyTo(output, inputs.get(rank));
    return done(OpType.REDUCE_SCATTER, output);
  }

  @Override
  public Work gather(List<Tensor> outputs, Tensor input, int root, Duration timeout) {
    outputs.forEach(output -> copyTo(output, input));
    return done(OpType.GATHER, outputs);
  }

  @Override
  public Work scatter(Tensor output, List<Tensor> inputs, int root, Duration timeout) {
    if (!inputs.isEmpty()) {
      copyTo(output, inputs.get(rank));
    }
    return done(OpType.SCATTER, output);
  }

  @Override
  public Work allToAll(Tensor output, Tensor input, Duration timeout) {
    copyTo(output, input);
    return done(OpType.ALL_TO_ALL_INTO, output);
  }

  @Override
  public Work allToAll(List<Tensor> outputs, List<Tensor> inputs, Duration timeout) {
    for (int peer = 0; peer < size; peer++) {
      copyTo(outputs.get(peer), inputs.get(peer));
    }
    return done(OpType.ALL_TO_ALL, outputs);
  }

  @Override
  public Work barrier(Duration timeout) {
    return done(OpType.BARRIER);
  }

  @Override
  public Work send(Tensor tensor, int destination, int tag, Duration timeout) {
    return done(OpType.SEND);
  }

  @Override
  public Work recv(Tensor tensor, int source, int tag, Duration timeout) {
    return done(OpType.RECV, List.of(tensor), source, null);
  }

  @Override
  public Work recvAny(Tensor tensor, int tag, Duration timeout) {
    return done(OpType.RECV_ANY, List.of(tensor), rank, null);
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    return Tensor.allocate(dtype, count);
  }

  @Override
  public void close() {}
}

package org.sparkcollectives.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.sparkcollectives.Backend;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.algorithm.AlgorithmSelector;
import org.sparkcollectives.pointtopoint.MessageMatcher;
import org.sparkcollectives.pointtopoint.MessagePath;
import org.sparkcollectives.pointtopoint.PostedReceive;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Lane;
import org.sparkcollectives.transport.OperationHeader;

/** Collectives and messages in host memory, over the heap and over Netty. */
final class NettyBackend implements Backend {

  private final GroupLife life;
  private final Channel channel;
  private final Lane lane;
  private final RankMessages messages;
  private final Runnable onClose;
  private final AlgorithmSelector algorithms = new AlgorithmSelector();
  private final AtomicLong nextMessage = new AtomicLong();

  /**
   * Of parts that are ready to use.
   *
   * @param onClose closes the lane and the messages' paths
   */
  NettyBackend(
      GroupLife life, Channel channel, Lane lane, RankMessages messages, Runnable onClose) {
    this.life = life;
    this.channel = channel;
    this.lane = lane;
    this.messages = messages;
    this.onClose = onClose;
  }

  @Override
  public String name() {
    return "netty";
  }

  @Override
  public Work broadcast(Tensor tensor, int root, Duration timeout) {
    HostTensor host = HostTensor.of(tensor);
    return collective(
        describe(OpType.BROADCAST, host, host.count(), host.count(), "root " + root),
        host.count(),
        timeout,
        List.of(tensor),
        peers -> algorithms.broadcast(peers, host, root));
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op, Duration timeout) {
    HostTensor host = HostTensor.of(tensor);
    return collective(
        describe(OpType.ALL_REDUCE, host, host.count(), host.count(), op.toString()),
        host.count(),
        timeout,
        List.of(tensor),
        peers -> algorithms.allReduce(peers, host, op));
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root, Duration timeout) {
    HostTensor host = HostTensor.of(tensor);
    return collective(
        describe(OpType.REDUCE, host, host.count(), host.count(), op + ", root " + root),
        host.count(),
        timeout,
        lane.rank() == root ? List.of(tensor) : List.of(),
        peers -> algorithms.reduce(peers, host, op, root));
  }

  @Override
  public Work allGather(Tensor output, Tensor input, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    HostTensor from = HostTensor.of(input);
    return collective(
        describe(OpType.ALL_GATHER_INTO, from, from.count(), to.count(), ""),
        to.count(),
        timeout,
        List.of(output),
        peers -> algorithms.allGather(peers, to, from));
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input, Duration timeout) {
    List<HostTensor> to = outputs.stream().map(HostTensor::of).toList();
    HostTensor from = HostTensor.of(input);
    return collective(
        describe(OpType.ALL_GATHER, from, from.count(), total(to), ""),
        total(to),
        timeout,
        outputs,
        peers -> algorithms.allGather(peers, to, from));
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    HostTensor from = HostTensor.of(input);
    return collective(
        describe(OpType.REDUCE_SCATTER_INTO, from, from.count(), to.count(), op.toString()),
        from.count(),
        timeout,
        List.of(output),
        peers -> algorithms.reduceScatter(peers, to, from, op));
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    List<HostTensor> from = inputs.stream().map(HostTensor::of).toList();
    return collective(
        describe(OpType.REDUCE_SCATTER, to, total(from), to.count(), op.toString()),
        total(from),
        timeout,
        List.of(output),
        peers -> algorithms.reduceScatter(peers, to, from, op));
  }

  @Override
  public Work barrier(Duration timeout) {
    return collective(
        new OperationDescription(OpType.BARRIER, null, 0, 0, ""),
        0,
        timeout,
        List.of(),
        algorithms::barrier);
  }

  private static OperationDescription describe(
      OpType type, HostTensor tensor, long inputCount, long outputCount, String detail) {
    return new OperationDescription(type, tensor.dtype(), inputCount, outputCount, detail);
  }

  private static long total(List<HostTensor> tensors) {
    return tensors.stream().mapToLong(HostTensor::count).sum();
  }

  private Work collective(
      OperationDescription description,
      long agreedCount,
      Duration timeout,
      List<Tensor> outputs,
      Consumer<Lane> algorithm) {
    DType dtype = description.dtype() == null ? DType.UINT8 : description.dtype();
    return channel.submit(
        number -> {
          OperationHeader header =
              new OperationHeader(description.type(), number, dtype, agreedCount);
          return new CollectiveTask(
              channel, life, description, number, timeout, outputs, () -> run(header, algorithm));
        });
  }

  private void run(OperationHeader header, Consumer<Lane> algorithm) {
    lane.begin(header);
    boolean done = false;
    try {
      algorithm.accept(lane);
      done = true;
    } finally {
      if (!done) {
        lane.abandon();
      }
    }
  }

  @Override
  public Work send(Tensor tensor, int destination, int tag, Duration timeout) {
    HostTensor host = HostTensor.of(tensor);
    MessagePath path = messages.pathTo(destination);
    MessageWork.Send work =
        new MessageWork.Send(
            life,
            describe(OpType.SEND, host, host.count(), 0, "to rank " + destination + ", tag " + tag),
            nextMessage.getAndIncrement(),
            timeout,
            destination);
    path.send(host, tag, work);
    return work;
  }

  @Override
  public Work recv(Tensor tensor, int source, int tag, Duration timeout) {
    return receive(OpType.RECV, tensor, source, tag, "from rank " + source, timeout);
  }

  @Override
  public Work recvAny(Tensor tensor, int tag, Duration timeout) {
    return receive(
        OpType.RECV_ANY, tensor, PostedReceive.ANY_SOURCE, tag, "from any rank", timeout);
  }

  private Work receive(
      OpType type, Tensor tensor, int source, int tag, String from, Duration timeout) {
    HostTensor host = HostTensor.of(tensor);
    MessageMatcher matcher = messages.matcher();
    MessageWork.Receive work =
        new MessageWork.Receive(
            life,
            describe(type, host, 0, host.count(), from + ", tag " + tag),
            nextMessage.getAndIncrement(),
            timeout,
            host,
            source,
            tag,
            matcher);
    work.post();
    return work;
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    return HostTensor.allocate(dtype, count);
  }

  @Override
  public void close() {
    onClose.run();
  }
}

package org.sparkcollectives.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.sparkcollectives.Backend;
import org.sparkcollectives.CallAgreement;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.HostBackend;
import org.sparkcollectives.OpType;
import org.sparkcollectives.OperationStage;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.algorithm.AlgorithmSelector;
import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.internal.failure.OperationDescription;
import org.sparkcollectives.internal.failure.TimeLimit;
import org.sparkcollectives.recorder.RecordedShapes;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Lane;

/** Collectives and messages in host memory, over the heap and over Netty. */
public final class NettyBackend implements HostBackend {

  /** Nothing. */
  private static final OperationStage NO_STAGE =
      new OperationStage() {
        @Override
        public void before() {}

        @Override
        public void after() {}
      };

  private final GroupMonitor monitor;
  private final Channel channel;
  private final Lane lane;
  private final RankMessages messages;
  private final Memory memory;
  private final Runnable onClose;
  private final AlgorithmSelector algorithms;

  /** Null if the ranks do not compare what they call. */
  private final CallComparison comparison;

  /** Of the call that all operations are parts of; null if each is a call of its own. */
  private final Duration callTimeout;

  private final OperationStage stage;

  /**
   * Of parts that are ready to use.
   *
   * @param algorithms chosen by what the paths cost
   * @param comparison of what the ranks call; null for none
   * @param memory where tensors are allocated
   * @param onClose closes the lane and the messages' paths
   */
  public NettyBackend(
      GroupMonitor monitor,
      Channel channel,
      Lane lane,
      RankMessages messages,
      AlgorithmSelector algorithms,
      CallComparison comparison,
      Memory memory,
      Runnable onClose) {
    this.monitor = monitor;
    this.channel = channel;
    this.lane = lane;
    this.messages = messages;
    this.memory = memory;
    this.onClose = onClose;
    this.algorithms = algorithms;
    this.comparison = comparison;
    this.callTimeout = null;
    this.stage = NO_STAGE;
  }

  private NettyBackend(NettyBackend other, Duration callTimeout, OperationStage stage) {
    this.monitor = other.monitor;
    this.channel = other.channel;
    this.lane = other.lane;
    this.messages = other.messages;
    this.memory = other.memory;
    this.onClose = other.onClose;
    this.algorithms = other.algorithms;
    this.comparison = other.comparison;
    this.callTimeout = callTimeout;
    this.stage = stage;
  }

  /** Where tensors are allocated. */
  interface Memory {
    Tensor allocate(DType dtype, long count);

    SharedMemory allocateShared(long bytes) throws IOException;
  }

  @Override
  public String name() {
    return "netty";
  }

  @Override
  public Backend withinCall(Duration timeout) {
    return new NettyBackend(this, timeout, stage);
  }

  @Override
  public Backend around(OperationStage surrounding) {
    return new NettyBackend(this, callTimeout, surrounding);
  }

  private TimeLimit limit(Duration timeout) {
    return new TimeLimit(timeout, callTimeout == null ? timeout : callTimeout);
  }

  @Override
  public Work broadcast(Tensor tensor, int root, Duration timeout) {
    HostTensor host = HostTensor.of(tensor);
    return collective(
        describe(OpType.BROADCAST, host).rootedAt(root),
        CallAgreement.onShape(host),
        timeout,
        List.of(tensor),
        peers -> algorithms.broadcast(peers, host, root));
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op, Duration timeout) {
    HostTensor host = HostTensor.of(tensor);
    return collective(
        describe(OpType.ALL_REDUCE, host).reducing(op),
        CallAgreement.onShape(host),
        timeout,
        List.of(tensor),
        peers -> algorithms.allReduce(peers, host, op));
  }

  @Override
  public Work allReduce(SparseTensor tensor, Duration timeout) {
    OperationDescription description =
        OperationDescription.collective(
                OpType.ALL_REDUCE_SPARSE, tensor.values().dtype(), tensor.values().count(), 0, 0)
            .reducing(ReduceOp.SUM);
    CallAgreement agreement =
        new CallAgreement(
            Device.Type.CPU, () -> List.<long[]>of(tensor.shape()), List.of(), List.of());
    AtomicReference<SparseTensor> sum = new AtomicReference<>();
    return channel.submit(
        number ->
            new CollectiveTask(
                channel,
                monitor,
                description,
                number,
                limit(timeout),
                List.of(),
                () ->
                    run(
                        description,
                        number,
                        agreement,
                        peers ->
                            sum.set(
                                algorithms.allReduce(
                                    peers,
                                    tensor,
                                    description.call(peers.rank(), number, agreement))))) {
              @Override
              public SparseTensor sparseResult() {
                if (!isSuccess()) {
                  throw new IllegalStateException(
                      describe() + " has no sparse result, because it is not done well");
                }
                return sum.get();
              }
            });
  }

  @Override
  public Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op, Duration timeout) {
    List<HostTensor> hosts = hosts(tensors);
    return collective(
        OperationDescription.collective(
                OpType.ALL_REDUCE_COALESCED,
                hosts.get(0).dtype(),
                total(hosts),
                total(hosts),
                total(hosts))
            .withSizesOf(hosts)
            .shaped(RecordedShapes.inPlace(hosts))
            .reducing(op),
        CallAgreement.onShapes(hosts),
        timeout,
        tensors,
        peers -> algorithms.allReduceCoalesced(peers, hosts, op));
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root, Duration timeout) {
    HostTensor host = HostTensor.of(tensor);
    return collective(
        describe(OpType.REDUCE, host).reducing(op).rootedAt(root),
        CallAgreement.onShape(host),
        timeout,
        lane.rank() == root ? List.of(tensor) : List.of(),
        peers -> algorithms.reduce(peers, host, op, root));
  }

  @Override
  public Work allGather(Tensor output, Tensor input, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    HostTensor from = HostTensor.of(input);
    return collective(
        describe(OpType.ALL_GATHER_INTO, from, from.count(), to.count(), to.count())
            .shaped(RecordedShapes.of(List.of(from), List.of(to))),
        CallAgreement.onShape(from),
        timeout,
        List.of(output),
        peers -> algorithms.allGather(peers, to, from));
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input, Duration timeout) {
    List<HostTensor> to = hosts(outputs);
    HostTensor from = HostTensor.of(input);
    return collective(
        describe(OpType.ALL_GATHER, from, from.count(), total(to), total(to))
            .shaped(RecordedShapes.of(List.of(from), to))
            .withSizesOf(to),
        CallAgreement.onShapes(to),
        timeout,
        outputs,
        peers -> algorithms.allGather(peers, to, from));
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    HostTensor from = HostTensor.of(input);
    return collective(
        describe(OpType.REDUCE_SCATTER_INTO, from, from.count(), to.count(), from.count())
            .shaped(RecordedShapes.of(List.of(from), List.of(to)))
            .reducing(op),
        CallAgreement.onShape(to),
        timeout,
        List.of(output),
        peers -> algorithms.reduceScatter(peers, to, from, op));
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    List<HostTensor> from = hosts(inputs);
    return collective(
        describe(OpType.REDUCE_SCATTER, to, total(from), to.count(), total(from))
            .shaped(RecordedShapes.of(from, List.of(to)))
            .withSizesOf(from)
            .reducing(op),
        CallAgreement.onShapes(from),
        timeout,
        List.of(output),
        peers -> algorithms.reduceScatter(peers, to, from, op));
  }

  @Override
  public Work gather(List<Tensor> outputs, Tensor input, int root, Duration timeout) {
    List<HostTensor> to = hosts(outputs);
    HostTensor from = HostTensor.of(input);
    return collective(
        describe(OpType.GATHER, from, from.count(), total(to), 0)
            .shaped(RecordedShapes.of(List.of(from), to))
            .rootedAt(root),
        CallAgreement.onCounts(toOne(root, from), to),
        timeout,
        outputs,
        peers -> algorithms.gather(peers, to, from, root));
  }

  @Override
  public Work scatter(Tensor output, List<Tensor> inputs, int root, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    List<HostTensor> from = hosts(inputs);
    return collective(
        describe(OpType.SCATTER, to, total(from), to.count(), 0)
            .shaped(RecordedShapes.of(from, List.of(to)))
            .rootedAt(root),
        CallAgreement.onCounts(from, toOne(root, to)),
        timeout,
        List.of(output),
        peers -> algorithms.scatter(peers, to, from, root));
  }

  @Override
  public Work allToAll(Tensor output, Tensor input, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    HostTensor from = HostTensor.of(input);
    return collective(
        describe(OpType.ALL_TO_ALL_INTO, from, from.count(), to.count(), to.count())
            .shaped(RecordedShapes.of(List.of(from), List.of(to))),
        CallAgreement.onShape(from),
        timeout,
        List.of(output),
        peers -> algorithms.allToAll(peers, to, from));
  }

  @Override
  public Work allToAll(List<Tensor> outputs, List<Tensor> inputs, Duration timeout) {
    List<HostTensor> to = hosts(outputs);
    List<HostTensor> from = hosts(inputs);
    return collective(
        describe(OpType.ALL_TO_ALL, from.get(0), total(from), total(to), 0)
            .shaped(RecordedShapes.of(from, to)),
        CallAgreement.onCounts(from, to),
        timeout,
        outputs,
        peers -> algorithms.allToAll(peers, to, from));
  }

  @Override
  public Work barrier(Duration timeout) {
    return collective(
        OperationDescription.collective(OpType.BARRIER, null, 0, 0, 0),
        CallAgreement.onNothing(),
        timeout,
        List.of(),
        algorithms::barrier);
  }

  /** An operation on one tensor whose count all ranks agree on. */
  private static OperationDescription describe(OpType type, HostTensor tensor) {
    return describe(type, tensor, tensor.count(), tensor.count(), tensor.count())
        .shaped(RecordedShapes.inPlace(tensor));
  }

  private static OperationDescription describe(
      OpType type, HostTensor tensor, long inputCount, long outputCount, long agreedCount) {
    return OperationDescription.collective(
        type, tensor.dtype(), inputCount, outputCount, agreedCount);
  }

  private static List<HostTensor> hosts(List<Tensor> tensors) {
    return tensors.stream().map(HostTensor::of).toList();
  }

  private static long total(List<HostTensor> tensors) {
    return tensors.stream().mapToLong(HostTensor::count).sum();
  }

  /** This rank's only part, which the root has or gives; nothing for the others. */
  private List<HostTensor> toOne(int root, HostTensor part) {
    HostTensor nothing = part.slice(0, 0);
    List<HostTensor> parts = new ArrayList<>(Collections.nCopies(lane.size(), nothing));
    parts.set(root, part);
    return parts;
  }

  private Work collective(
      OperationDescription description,
      CallAgreement agreement,
      Duration timeout,
      List<Tensor> outputs,
      Consumer<Lane> algorithm) {
    return channel.submit(
        number ->
            new CollectiveTask(
                channel,
                monitor,
                description,
                number,
                limit(timeout),
                outputs,
                () -> run(description, number, agreement, algorithm)));
  }

  private void run(
      OperationDescription description,
      long number,
      CallAgreement agreement,
      Consumer<Lane> algorithm) {
    boolean done = false;
    try {
      stage.before();
      if (comparison != null) {
        comparison.compare(description, number, agreement);
      }
      lane.begin(description.header(number));
      algorithm.accept(lane);
      stage.after();
      done = true;
    } finally {
      if (!done) {
        lane.abandon();
      }
    }
  }

  @Override
  public Work send(Tensor tensor, int destination, int tag, Duration timeout) {
    return messages.send(HostTensor.of(tensor), destination, tag, limit(timeout));
  }

  @Override
  public Work recv(Tensor tensor, int source, int tag, Duration timeout) {
    return messages.recv(HostTensor.of(tensor), source, tag, limit(timeout));
  }

  @Override
  public Work recvAny(Tensor tensor, int tag, Duration timeout) {
    return messages.recvAny(HostTensor.of(tensor), tag, limit(timeout));
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    return memory.allocate(dtype, count);
  }

  @Override
  public SharedMemory allocateShared(long bytes) throws IOException {
    return memory.allocateShared(bytes);
  }

  @Override
  public void close() {
    onClose.run();
  }
}

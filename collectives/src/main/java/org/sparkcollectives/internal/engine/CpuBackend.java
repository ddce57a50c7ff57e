package org.sparkcollectives.internal.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.internal.algorithm.AlgorithmSelector;
import org.sparkcollectives.internal.algorithm.Call;
import org.sparkcollectives.internal.transport.Communicator;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.work.TimeLimit;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.HostBackend;
import org.sparkcollectives.spi.OperationSpec;
import org.sparkcollectives.spi.OperationStage;
import org.sparkcollectives.spi.PreparedCollective;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Carries out collectives and messages in host memory, over the heap, shared memory and TCP. Users
 * know it as the backend {@code netty}.
 */
public final class CpuBackend implements HostBackend {

  private static final OperationStage NO_STAGE =
      new OperationStage() {
        @Override
        public void before() {}

        @Override
        public void after() {}
      };

  private final OperationQueue queue;
  private final GroupPaths paths;
  private final RankMessages messages;
  private final AlgorithmSelector algorithms;

  /** Null if the ranks do not compare their calls. */
  private final CallComparison comparison;

  private final Runnable onClose;

  /** The timeout of the call that all operations are parts of; null if each is its own call. */
  private final Duration callTimeout;

  private final OperationStage stage;

  /**
   * Creates the backend of a group.
   *
   * @param queue runs the collectives
   * @param paths to the peers
   * @param algorithms chosen by the costs of the paths
   * @param comparison of the ranks' calls; null for none
   * @param onClose closes the paths
   */
  public CpuBackend(
      OperationQueue queue,
      GroupPaths paths,
      RankMessages messages,
      AlgorithmSelector algorithms,
      CallComparison comparison,
      Runnable onClose) {
    this.queue = queue;
    this.paths = paths;
    this.messages = messages;
    this.algorithms = algorithms;
    this.comparison = comparison;
    this.onClose = onClose;
    this.callTimeout = null;
    this.stage = NO_STAGE;
  }

  private CpuBackend(CpuBackend other, Duration callTimeout, OperationStage stage) {
    this.queue = other.queue;
    this.paths = other.paths;
    this.messages = other.messages;
    this.algorithms = other.algorithms;
    this.comparison = other.comparison;
    this.onClose = other.onClose;
    this.callTimeout = callTimeout;
    this.stage = stage;
  }

  @Override
  public String name() {
    return "netty";
  }

  @Override
  public Backend withinCall(Duration timeout) {
    return new CpuBackend(this, timeout, stage);
  }

  @Override
  public Backend around(OperationStage surrounding) {
    return new CpuBackend(this, callTimeout, surrounding);
  }

  @Override
  public Work broadcast(Tensor tensor, int root, Duration timeout) {
    return submit(UserCall.broadcast(tensor, root, rank()), timeout);
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op, Duration timeout) {
    return submit(UserCall.allReduce(tensor, op), timeout);
  }

  @Override
  public Work allReduce(SparseTensor tensor, Duration timeout) {
    return queue.submit(
        new CollectiveTask(
            queue,
            OperationSpec.allReduce(tensor),
            limit(timeout),
            List.of(tensor.indices(), tensor.values()),
            List.of(),
            task -> execute(task, communicator -> reduce(communicator, tensor, task))));
  }

  private void reduce(Communicator communicator, SparseTensor tensor, CollectiveTask task) {
    CollectiveCall call = task.spec().call(communicator.rank(), task.sequenceNumber());
    task.reducedTo(algorithms.allReduce(communicator, tensor, call));
  }

  @Override
  public Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op, Duration timeout) {
    List<HostTensor> hosts = UserCall.hosts(tensors);
    OperationSpec spec = OperationSpec.allReduceCoalesced(hosts, op);
    algorithms.requireFit(paths.communicator(), spec, hosts, op);
    return queue.submit(
        new CollectiveTask(
            queue,
            spec,
            limit(timeout),
            hosts,
            tensors,
            task ->
                execute(
                    task, communicator -> algorithms.allReduceCoalesced(communicator, hosts, op))));
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root, Duration timeout) {
    HostTensor host = HostTensor.of(tensor);
    return submit(
        new UserCall<>(
            OperationSpec.reduce(host, op, root),
            List.of(host),
            rank() == root ? List.of(tensor) : List.of(),
            Call.reduce(host, op, root)),
        timeout);
  }

  @Override
  public Work allGather(Tensor output, Tensor input, Duration timeout) {
    return submit(UserCall.allGather(output, input, size()), timeout);
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input, Duration timeout) {
    return submit(UserCall.allGather(outputs, input), timeout);
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op, Duration timeout) {
    return submit(UserCall.reduceScatter(output, input, op, size()), timeout);
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout) {
    return submit(UserCall.reduceScatter(output, inputs, op), timeout);
  }

  @Override
  public Work gather(List<Tensor> outputs, Tensor input, int root, Duration timeout) {
    return submit(UserCall.gather(outputs, input, root), timeout);
  }

  @Override
  public Work scatter(Tensor output, List<Tensor> inputs, int root, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    List<HostTensor> from = UserCall.hosts(inputs);
    return submit(
        new UserCall<>(
            OperationSpec.scatter(to, from, root),
            from,
            List.of(output),
            new Call.Scatter(to, from, root)),
        timeout);
  }

  @Override
  public Work allToAll(Tensor output, Tensor input, Duration timeout) {
    HostTensor to = HostTensor.of(output);
    HostTensor from = HostTensor.of(input);
    return submit(
        new UserCall<>(
            OperationSpec.allToAll(to, from),
            List.of(from),
            List.of(output),
            Call.allToAll(to, from, size())),
        timeout);
  }

  @Override
  public Work allToAll(List<Tensor> outputs, List<Tensor> inputs, Duration timeout) {
    List<HostTensor> to = UserCall.hosts(outputs);
    List<HostTensor> from = UserCall.hosts(inputs);
    return submit(
        new UserCall<>(OperationSpec.allToAll(to, from), from, outputs, Call.allToAll(to, from)),
        timeout);
  }

  @Override
  public Work barrier(Duration timeout) {
    return submit(
        new UserCall<>(OperationSpec.barrier(), List.of(), List.of(), new Call.Barrier()), timeout);
  }

  @Override
  public PreparedCollective prepareAllReduce(Tensor tensor, ReduceOp op, Duration timeout) {
    return prepare(UserCall.allReduce(tensor, op), timeout);
  }

  @Override
  public PreparedCollective prepareBroadcast(Tensor tensor, int root, Duration timeout) {
    return prepare(UserCall.broadcast(tensor, root, rank()), timeout);
  }

  @Override
  public PreparedCollective prepareAllGather(Tensor output, Tensor input, Duration timeout) {
    return prepare(UserCall.allGather(output, input, size()), timeout);
  }

  @Override
  public PreparedCollective prepareAllGather(List<Tensor> outputs, Tensor input, Duration timeout) {
    return prepare(UserCall.allGather(outputs, input), timeout);
  }

  @Override
  public PreparedCollective prepareReduceScatter(
      Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout) {
    return prepare(UserCall.reduceScatter(output, inputs, op), timeout);
  }

  @Override
  public PreparedCollective prepareReduceScatter(
      Tensor output, Tensor input, ReduceOp op, Duration timeout) {
    return prepare(UserCall.reduceScatter(output, input, op, size()), timeout);
  }

  @Override
  public PreparedCollective prepareGather(
      List<Tensor> outputs, Tensor input, int root, Duration timeout) {
    return prepare(UserCall.gather(outputs, input, root), timeout);
  }

  private int rank() {
    return paths.communicator().rank();
  }

  private int size() {
    return paths.communicator().size();
  }

  private <C extends Call<C>> Work submit(UserCall<C> user, Duration timeout) {
    requireFit(user);
    C call = user.call();
    return queue.submit(
        task(
            user,
            limit(timeout),
            task -> execute(task, communicator -> algorithms.carryOut(communicator, call))));
  }

  private <C extends Call<C>> PreparedCollective prepare(UserCall<C> user, Duration timeout) {
    requireFit(user);
    TimeLimit limit = limit(timeout);
    Runnable prepared = algorithms.prepare(paths.communicator(), user.call());
    Consumer<Communicator> exchange = communicator -> prepared.run();
    CollectiveTask.Body body = task -> execute(task, exchange);
    return () -> queue.submit(task(user, limit, body));
  }

  private void requireFit(UserCall<?> user) {
    algorithms.requireFit(paths.communicator(), user.spec(), user.own(), user.call());
  }

  private CollectiveTask task(UserCall<?> user, TimeLimit limit, CollectiveTask.Body body) {
    return new CollectiveTask(queue, user.spec(), limit, user.inputs(), user.outputs(), body);
  }

  private TimeLimit limit(Duration timeout) {
    return new TimeLimit(timeout, callTimeout == null ? timeout : callTimeout);
  }

  /** Exchanges data with the other ranks, in the turn of the task. */
  private void execute(CollectiveTask task, Consumer<Communicator> exchange) {
    Communicator communicator = paths.communicator();
    boolean done = false;
    try {
      stage.before();
      if (comparison != null) {
        comparison.compare(task.spec(), task.sequenceNumber());
      }
      communicator.begin(OperationHeader.of(task.spec(), task.sequenceNumber()));
      exchange.accept(communicator);
      task.recordAlgorithm(algorithms.lastAlgorithm());
      stage.after();
      done = true;
    } catch (RuntimeException | Error e) {
      communicator.attribute(e);
      throw e;
    } finally {
      if (!done) {
        communicator.abandon();
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
  public List<AlgorithmChoices.Choice> explain(DType dtype, ReduceOp op) {
    return algorithms.explain(paths.communicator(), dtype, op);
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    return paths.allocate(dtype, count);
  }

  @Override
  public SharedMemory allocateShared(long bytes) throws IOException {
    return paths.allocateShared(bytes);
  }

  @Override
  public void close() {
    onClose.run();
  }
}

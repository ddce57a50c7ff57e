package org.sparkcollectives.internal.group;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.OpType;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.OperationSpec;
import org.sparkcollectives.spi.PreparedCollective;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorView;

/**
 * A process group, or a view of one. The operations are here: each checks its arguments and hands
 * them to the backend of the tensors' device.
 */
final class RankProcessGroup extends GroupHandle {

  private final RankGroup group;
  private final Backends backends;
  private final Arguments arguments;
  private final Duration timeout;

  private RankProcessGroup(RankGroup group, Backends backends, Duration timeout, boolean owner) {
    super(group, backends, timeout, owner);
    this.group = group;
    this.backends = backends;
    this.arguments = new Arguments(group.name(), group.rank(), group.size());
    this.timeout = timeout;
  }

  /** Returns the handle that closes the group. */
  static RankProcessGroup owning(RankGroup group) {
    return of(group, true);
  }

  /**
   * Returns a handle of the group.
   *
   * @param owner whether closing the handle closes the group
   */
  static RankProcessGroup of(RankGroup group, boolean owner) {
    return new RankProcessGroup(
        group, group.backends(), group.options().timeout().orElseThrow(), owner);
  }

  @Override
  RankProcessGroup handle(RankGroup other, boolean closes) {
    return of(other, closes);
  }

  @Override
  RankProcessGroup view(Backends others, Duration otherTimeout) {
    return new RankProcessGroup(group, others, otherTimeout, false);
  }

  @Override
  public Work broadcast(Tensor tensor, int root) {
    group.requireOpen();
    TensorView own = arguments.tensor("broadcast", "tensor", tensor);
    arguments.root("broadcast", root);
    if (root == group.rank()) {
      checkNan("broadcast", "tensor", own);
    }
    return begun(on(own).broadcast(own, root, timeout));
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op) {
    group.requireOpen();
    TensorView own = arguments.tensor("all-reduce", "tensor", tensor);
    arguments.reducible("all-reduce", op, own.dtype());
    checkNan("all-reduce", "tensor", own);
    return begun(on(own).allReduce(own, op, timeout));
  }

  @Override
  public Work allReduce(SparseTensor tensor) {
    group.requireOpen();
    arguments.given("all-reduce-sparse", "tensor", tensor);
    TensorView values = arguments.tensor("all-reduce-sparse", "values", tensor.values());
    arguments.tensor("all-reduce-sparse", "indices", tensor.indices());
    arguments.reducible("all-reduce-sparse", ReduceOp.SUM, values.dtype());
    checkNan("all-reduce-sparse", "values", values);
    return begun(on(values).allReduce(tensor, timeout));
  }

  @Override
  public Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op) {
    group.requireOpen();
    List<TensorView> all = arguments.tensors("all-reduce-coalesced", "tensors", tensors);
    arguments.sameTypes("all-reduce-coalesced", all, all.get(0));
    arguments.reducible("all-reduce-coalesced", op, all.get(0).dtype());
    checkNan("all-reduce-coalesced", "tensors", all);
    return begun(on(all.get(0)).allReduceCoalesced(List.copyOf(all), op, timeout));
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root) {
    group.requireOpen();
    TensorView own = arguments.tensor("reduce", "tensor", tensor);
    arguments.reducible("reduce", op, own.dtype());
    arguments.root("reduce", root);
    checkNan("reduce", "tensor", own);
    return begun(on(own).reduce(own, op, root, timeout));
  }

  @Override
  public Work allGather(Tensor output, Tensor input) {
    group.requireOpen();
    TensorView to = arguments.tensor("all-gather", "output", output);
    TensorView from = arguments.tensor("all-gather", "input", input);
    checkAllGather(to, from);
    checkNan("all-gather", "input", from);
    return begun(on(to).allGather(to, from, timeout));
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input) {
    group.requireOpen();
    List<TensorView> to = arguments.onePerRank("all-gather", "outputs", outputs);
    TensorView from = arguments.tensor("all-gather", "input", input);
    checkAllGather(to, from);
    checkNan("all-gather", "input", from);
    return begun(on(from).allGather(List.copyOf(to), from, timeout));
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op) {
    group.requireOpen();
    TensorView to = arguments.tensor("reduce-scatter", "output", output);
    TensorView from = arguments.tensor("reduce-scatter", "input", input);
    checkReduceScatter(to, from, op);
    checkNan("reduce-scatter", "input", from);
    return begun(on(to).reduceScatter(to, from, op, timeout));
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op) {
    group.requireOpen();
    TensorView to = arguments.tensor("reduce-scatter", "output", output);
    List<TensorView> from = arguments.onePerRank("reduce-scatter", "inputs", inputs);
    checkReduceScatter(to, from, op);
    checkNan("reduce-scatter", "inputs", from);
    return begun(on(to).reduceScatter(to, List.copyOf(from), op, timeout));
  }

  @Override
  public Work gather(List<Tensor> outputs, Tensor input, int root) {
    group.requireOpen();
    arguments.root("gather", root);
    TensorView from = arguments.tensor("gather", "input", input);
    List<TensorView> to = arguments.atRootOnly("gather", "outputs", outputs, root);
    checkGather(to, from);
    checkNan("gather", "input", from);
    return begun(on(from).gather(List.copyOf(to), from, root, timeout));
  }

  @Override
  public Work scatter(Tensor output, List<Tensor> inputs, int root) {
    group.requireOpen();
    arguments.root("scatter", root);
    TensorView to = arguments.tensor("scatter", "output", output);
    List<TensorView> from = arguments.atRootOnly("scatter", "inputs", inputs, root);
    arguments.sameTypes("scatter", from, to);
    arguments.ownPartAtRoot("scatter", "inputs", from, to);
    arguments.apartOrInPlace("scatter", from, to);
    checkNan("scatter", "inputs", from);
    return begun(on(to).scatter(to, List.copyOf(from), root, timeout));
  }

  @Override
  public Work allToAll(Tensor output, Tensor input) {
    group.requireOpen();
    TensorView to = arguments.tensor("all-to-all", "output", output);
    TensorView from = arguments.tensor("all-to-all", "input", input);
    arguments.sameType("all-to-all", to, from);
    arguments.equalParts("all-to-all", to, from);
    arguments.apart("all-to-all", List.of(to), List.of(from));
    checkNan("all-to-all", "input", from);
    return begun(on(to).allToAll(to, from, timeout));
  }

  @Override
  public Work allToAll(Tensor output, Tensor input, long[] outputSplits, long[] inputSplits) {
    group.requireOpen();
    TensorView to = arguments.tensor("all-to-all", "output", output);
    TensorView from = arguments.tensor("all-to-all", "input", input);
    arguments.sameType("all-to-all", to, from);
    arguments.apart("all-to-all", List.of(to), List.of(from));
    List<TensorView> outputs = arguments.split("all-to-all", "output", to, outputSplits);
    List<TensorView> inputs = arguments.split("all-to-all", "input", from, inputSplits);
    arguments.ownPart("all-to-all", "output's parts", outputs, inputs.get(group.rank()));
    checkNan("all-to-all", "input", from);
    return begun(on(to).allToAll(List.copyOf(outputs), List.copyOf(inputs), timeout));
  }

  @Override
  public Work allToAll(List<Tensor> outputs, List<Tensor> inputs) {
    group.requireOpen();
    List<TensorView> to = arguments.onePerRank("all-to-all", "outputs", outputs);
    List<TensorView> from = arguments.onePerRank("all-to-all", "inputs", inputs);
    arguments.sameTypes("all-to-all", to, from.get(0));
    arguments.sameTypes("all-to-all", from, from.get(0));
    arguments.ownPart("all-to-all", "outputs", to, from.get(group.rank()));
    arguments.apart("all-to-all", to, from);
    checkNan("all-to-all", "inputs", from);
    return begun(on(from.get(0)).allToAll(List.copyOf(to), List.copyOf(from), timeout));
  }

  @Override
  public Work barrier() {
    group.requireOpen();
    return begun(backends.forBarrier().barrier(timeout));
  }

  @Override
  public PersistentCollective allReduceInit(Tensor tensor, ReduceOp op) {
    group.requireOpen();
    TensorView own = arguments.tensor("all-reduce", "tensor", tensor);
    arguments.reducible("all-reduce", op, own.dtype());
    return persistent(
        OperationSpec.allReduce(own, op),
        () -> checkNan("all-reduce", "tensor", own),
        on(own).prepareAllReduce(own, op, timeout));
  }

  @Override
  public PersistentCollective broadcastInit(Tensor tensor, int root) {
    group.requireOpen();
    TensorView own = arguments.tensor("broadcast", "tensor", tensor);
    arguments.root("broadcast", root);
    return persistent(
        OperationSpec.broadcast(own, root),
        root == group.rank() ? () -> checkNan("broadcast", "tensor", own) : () -> {},
        on(own).prepareBroadcast(own, root, timeout));
  }

  @Override
  public PersistentCollective allGatherInit(Tensor output, Tensor input) {
    group.requireOpen();
    TensorView to = arguments.tensor("all-gather", "output", output);
    TensorView from = arguments.tensor("all-gather", "input", input);
    checkAllGather(to, from);
    return persistent(
        OperationSpec.allGather(to, from),
        () -> checkNan("all-gather", "input", from),
        on(to).prepareAllGather(to, from, timeout));
  }

  @Override
  public PersistentCollective allGatherInit(List<Tensor> outputs, Tensor input) {
    group.requireOpen();
    List<TensorView> to = arguments.onePerRank("all-gather", "outputs", outputs);
    TensorView from = arguments.tensor("all-gather", "input", input);
    checkAllGather(to, from);
    return persistent(
        OperationSpec.allGather(to, from),
        () -> checkNan("all-gather", "input", from),
        on(from).prepareAllGather(List.copyOf(to), from, timeout));
  }

  @Override
  public PersistentCollective reduceScatterInit(Tensor output, List<Tensor> inputs, ReduceOp op) {
    group.requireOpen();
    TensorView to = arguments.tensor("reduce-scatter", "output", output);
    List<TensorView> from = arguments.onePerRank("reduce-scatter", "inputs", inputs);
    checkReduceScatter(to, from, op);
    return persistent(
        OperationSpec.reduceScatter(to, from, op),
        () -> checkNan("reduce-scatter", "inputs", from),
        on(to).prepareReduceScatter(to, List.copyOf(from), op, timeout));
  }

  @Override
  public PersistentCollective reduceScatterInit(Tensor output, Tensor input, ReduceOp op) {
    group.requireOpen();
    TensorView to = arguments.tensor("reduce-scatter", "output", output);
    TensorView from = arguments.tensor("reduce-scatter", "input", input);
    checkReduceScatter(to, from, op);
    return persistent(
        OperationSpec.reduceScatter(to, from, op),
        () -> checkNan("reduce-scatter", "input", from),
        on(to).prepareReduceScatter(to, from, op, timeout));
  }

  @Override
  public PersistentCollective gatherInit(List<Tensor> outputs, Tensor input, int root) {
    group.requireOpen();
    arguments.root("gather", root);
    TensorView from = arguments.tensor("gather", "input", input);
    List<TensorView> to = arguments.atRootOnly("gather", "outputs", outputs, root);
    checkGather(to, from);
    return persistent(
        OperationSpec.gather(to, from, root),
        () -> checkNan("gather", "input", from),
        on(from).prepareGather(List.copyOf(to), from, root, timeout));
  }

  private void checkAllGather(TensorView to, TensorView from) {
    arguments.sameType("all-gather", to, from);
    arguments.partForEachRank("all-gather", "output", to, "input", from);
    arguments.apartOrInPlace("all-gather", to, from);
  }

  private void checkAllGather(List<TensorView> to, TensorView from) {
    arguments.sameTypes("all-gather", to, from);
    arguments.ownPart("all-gather", "outputs", to, from);
    arguments.apartOrInPlace("all-gather", to, from);
  }

  private void checkReduceScatter(TensorView to, TensorView from, ReduceOp op) {
    arguments.sameType("reduce-scatter", to, from);
    arguments.reducible("reduce-scatter", op, from.dtype());
    arguments.partForEachRank("reduce-scatter", "input", from, "output", to);
    arguments.apartOrInPlace("reduce-scatter", from, to);
  }

  private void checkReduceScatter(TensorView to, List<TensorView> from, ReduceOp op) {
    arguments.sameTypes("reduce-scatter", from, to);
    arguments.reducible("reduce-scatter", op, to.dtype());
    arguments.ownPart("reduce-scatter", "inputs", from, to);
    arguments.apartOrInPlace("reduce-scatter", from, to);
  }

  private void checkGather(List<TensorView> to, TensorView from) {
    arguments.sameTypes("gather", to, from);
    arguments.ownPartAtRoot("gather", "outputs", to, from);
    arguments.apartOrInPlace("gather", to, from);
  }

  private PersistentCollective persistent(
      OperationSpec spec, Runnable check, PreparedCollective prepared) {
    return new PersistentOperation(group, spec.describe(), check, prepared);
  }

  @Override
  public Work send(Tensor tensor, int destination, int tag) {
    group.requireOpen();
    TensorView own = arguments.tensor("send", "tensor", tensor);
    arguments.peer("send", destination);
    arguments.tag("send", tag);
    checkNan("send", "tensor", own);
    return begun(on(own).send(own, destination, tag, timeout));
  }

  @Override
  public Work recv(Tensor tensor, int source, int tag) {
    group.requireOpen();
    TensorView own = arguments.tensor("recv", "tensor", tensor);
    arguments.peer("recv", source);
    arguments.tag("recv", tag);
    return begun(on(own).recv(own, source, tag, timeout));
  }

  @Override
  public Work recvAny(Tensor tensor, int tag) {
    group.requireOpen();
    TensorView own = arguments.tensor("recv-any", "tensor", tensor);
    arguments.hasPeers("recv-any");
    arguments.tag("recv-any", tag);
    return begun(on(own).recvAny(own, tag, timeout));
  }

  @Override
  public List<Work> batch(List<P2POp> operations) {
    group.requireOpen();
    arguments.batch(operations);
    operations.stream()
        .filter(each -> each.type() == OpType.SEND)
        .forEach(each -> checkNan("send", "tensor", TensorView.of(each.tensor())));
    Map<Backend, List<P2POp>> byBackend = new LinkedHashMap<>();
    operations.forEach(
        each ->
            byBackend
                .computeIfAbsent(on(TensorView.of(each.tensor())), backend -> new ArrayList<>())
                .add(each));
    // Each backend's works are in the order of its operations; they are merged into the order of
    // the batch.
    Map<Backend, Iterator<Work>> works = new LinkedHashMap<>();
    byBackend.forEach((backend, own) -> works.put(backend, backend.batch(own, timeout).iterator()));
    return operations.stream()
        .map(each -> begun(works.get(on(TensorView.of(each.tensor()))).next()))
        .toList();
  }

  private void checkNan(String operation, String name, List<TensorView> tensors) {
    for (TensorView tensor : tensors) {
      checkNan(operation, name, tensor);
    }
  }

  /** Checks a tensor in host memory; a tensor on a device is checked there, by its backend. */
  private void checkNan(String operation, String name, TensorView tensor) {
    if (group.nanCheck() && tensor instanceof HostTensor host) {
      arguments.checkNan(operation, name, host);
    }
  }

  private Backend on(TensorView tensor) {
    return backends.forDevice(tensor.device().type());
  }

  private Work begun(Work work) {
    return group.coalescing().begun(work);
  }
}

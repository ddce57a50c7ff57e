package org.sparkcollectives.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.sparkcollectives.Backend;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.object.StreamedObjectCollectives;
import org.sparkcollectives.recorder.FlightRecorder;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.tensor.HostTensor;

/** A process group, or a view of one: checks what the user gives and hands it to the backend. */
final class RankProcessGroup implements ProcessGroup {

  private final RankGroup group;
  private final Backend backend;
  private final Arguments arguments;
  private final Duration timeout;
  private final boolean owner;

  private RankProcessGroup(RankGroup group, Backend backend, Duration timeout, boolean owner) {
    this.group = group;
    this.backend = backend;
    this.arguments = new Arguments(group.name(), group.rank(), group.size());
    this.timeout = timeout;
    this.owner = owner;
  }

  static RankProcessGroup owning(RankGroup group) {
    return new RankProcessGroup(
        group, group.backends().forDevice(Device.Type.CPU), group.options().timeout(), true);
  }

  @Override
  public String name() {
    return group.name();
  }

  @Override
  public String description() {
    return group.members().description();
  }

  @Override
  public int rank() {
    return group.rank();
  }

  @Override
  public int size() {
    return group.size();
  }

  @Override
  public int globalRank(int groupRank) {
    return group.members().globalRank(groupRank);
  }

  @Override
  public int groupRank(int globalRank) {
    return group.members().groupRank(globalRank);
  }

  @Override
  public int[] globalRanks() {
    return group.members().globalRanks();
  }

  @Override
  public Store store() {
    return group.userStore();
  }

  @Override
  public Duration timeout() {
    return timeout;
  }

  @Override
  public ProcessGroup withTimeout(Duration other) {
    // Refuses what is no timeout.
    GroupOptions.defaults().withTimeout(other);
    return new RankProcessGroup(group, backend, other, false);
  }

  @Override
  public void extendTimeout(Duration extra) {
    if (extra.isNegative() || extra.compareTo(GroupOptions.LONGEST_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "A timeout is extended by 0 to "
              + GroupOptions.LONGEST_TIMEOUT.toDays()
              + " days, not by "
              + extra);
    }
    group.life().ephemeralTimeout().extend(extra);
  }

  @Override
  public Work broadcast(Tensor tensor, int root) {
    group.requireOpen();
    HostTensor host = arguments.tensor("broadcast", "tensor", tensor);
    arguments.root("broadcast", root);
    return begun(backend.broadcast(host, root, timeout));
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op) {
    group.requireOpen();
    HostTensor host = arguments.tensor("all-reduce", "tensor", tensor);
    arguments.reducible("all-reduce", op, host.dtype());
    return begun(backend.allReduce(host, op, timeout));
  }

  private Work begun(Work work) {
    return group.coalescing().begun(work);
  }

  @Override
  public Work allReduce(SparseTensor tensor) {
    group.requireOpen();
    arguments.given("all-reduce-sparse", "tensor", tensor);
    HostTensor values = arguments.tensor("all-reduce-sparse", "values", tensor.values());
    arguments.tensor("all-reduce-sparse", "indices", tensor.indices());
    arguments.reducible("all-reduce-sparse", ReduceOp.SUM, values.dtype());
    return begun(backend.allReduce(tensor, timeout));
  }

  @Override
  public Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op) {
    group.requireOpen();
    List<HostTensor> hosts = arguments.tensors("all-reduce-coalesced", "tensors", tensors);
    arguments.sameTypes("all-reduce-coalesced", hosts, hosts.get(0));
    arguments.reducible("all-reduce-coalesced", op, hosts.get(0).dtype());
    return begun(backend.allReduceCoalesced(List.copyOf(hosts), op, timeout));
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root) {
    group.requireOpen();
    HostTensor host = arguments.tensor("reduce", "tensor", tensor);
    arguments.reducible("reduce", op, host.dtype());
    arguments.root("reduce", root);
    return begun(backend.reduce(host, op, root, timeout));
  }

  @Override
  public Work allGather(Tensor output, Tensor input) {
    group.requireOpen();
    HostTensor to = arguments.tensor("all-gather", "output", output);
    HostTensor from = arguments.tensor("all-gather", "input", input);
    arguments.sameType("all-gather", to, from);
    arguments.partForEachRank("all-gather", "output", to, "input", from);
    arguments.apartOrInPlace("all-gather", to, from);
    return begun(backend.allGather(to, from, timeout));
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input) {
    group.requireOpen();
    List<HostTensor> to = arguments.onePerRank("all-gather", "outputs", outputs);
    HostTensor from = arguments.tensor("all-gather", "input", input);
    arguments.sameTypes("all-gather", to, from);
    arguments.ownPart("all-gather", "outputs", to, from);
    arguments.apartOrInPlace("all-gather", to, from);
    return begun(backend.allGather(List.copyOf(to), from, timeout));
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op) {
    group.requireOpen();
    HostTensor to = arguments.tensor("reduce-scatter", "output", output);
    HostTensor from = arguments.tensor("reduce-scatter", "input", input);
    arguments.sameType("reduce-scatter", to, from);
    arguments.reducible("reduce-scatter", op, from.dtype());
    arguments.partForEachRank("reduce-scatter", "input", from, "output", to);
    arguments.apartOrInPlace("reduce-scatter", from, to);
    return begun(backend.reduceScatter(to, from, op, timeout));
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op) {
    group.requireOpen();
    HostTensor to = arguments.tensor("reduce-scatter", "output", output);
    List<HostTensor> from = arguments.onePerRank("reduce-scatter", "inputs", inputs);
    arguments.sameTypes("reduce-scatter", from, to);
    arguments.reducible("reduce-scatter", op, to.dtype());
    arguments.ownPart("reduce-scatter", "inputs", from, to);
    arguments.apartOrInPlace("reduce-scatter", from, to);
    return begun(backend.reduceScatter(to, List.copyOf(from), op, timeout));
  }

  @Override
  public Work gather(List<Tensor> outputs, Tensor input, int root) {
    group.requireOpen();
    arguments.root("gather", root);
    HostTensor from = arguments.tensor("gather", "input", input);
    List<HostTensor> to = arguments.atRootOnly("gather", "outputs", outputs, root);
    arguments.sameTypes("gather", to, from);
    arguments.ownPartAtRoot("gather", "outputs", to, from);
    arguments.apartOrInPlace("gather", to, from);
    return begun(backend.gather(List.copyOf(to), from, root, timeout));
  }

  @Override
  public Work scatter(Tensor output, List<Tensor> inputs, int root) {
    group.requireOpen();
    arguments.root("scatter", root);
    HostTensor to = arguments.tensor("scatter", "output", output);
    List<HostTensor> from = arguments.atRootOnly("scatter", "inputs", inputs, root);
    arguments.sameTypes("scatter", from, to);
    arguments.ownPartAtRoot("scatter", "inputs", from, to);
    arguments.apartOrInPlace("scatter", from, to);
    return begun(backend.scatter(to, List.copyOf(from), root, timeout));
  }

  @Override
  public Work allToAll(Tensor output, Tensor input) {
    group.requireOpen();
    HostTensor to = arguments.tensor("all-to-all", "output", output);
    HostTensor from = arguments.tensor("all-to-all", "input", input);
    arguments.sameType("all-to-all", to, from);
    arguments.equalParts("all-to-all", to, from);
    arguments.apart("all-to-all", List.of(to), List.of(from));
    return begun(backend.allToAll(to, from, timeout));
  }

  @Override
  public Work allToAll(Tensor output, Tensor input, long[] outputSplits, long[] inputSplits) {
    group.requireOpen();
    HostTensor to = arguments.tensor("all-to-all", "output", output);
    HostTensor from = arguments.tensor("all-to-all", "input", input);
    arguments.sameType("all-to-all", to, from);
    arguments.apart("all-to-all", List.of(to), List.of(from));
    List<HostTensor> outputs = arguments.split("all-to-all", "output", to, outputSplits);
    List<HostTensor> inputs = arguments.split("all-to-all", "input", from, inputSplits);
    arguments.ownPart("all-to-all", "output's parts", outputs, inputs.get(rank()));
    return begun(backend.allToAll(List.copyOf(outputs), List.copyOf(inputs), timeout));
  }

  @Override
  public Work allToAll(List<Tensor> outputs, List<Tensor> inputs) {
    group.requireOpen();
    List<HostTensor> to = arguments.onePerRank("all-to-all", "outputs", outputs);
    List<HostTensor> from = arguments.onePerRank("all-to-all", "inputs", inputs);
    arguments.sameTypes("all-to-all", to, from.get(0));
    arguments.sameTypes("all-to-all", from, from.get(0));
    arguments.ownPart("all-to-all", "outputs", to, from.get(rank()));
    arguments.apart("all-to-all", to, from);
    return begun(backend.allToAll(List.copyOf(to), List.copyOf(from), timeout));
  }

  @Override
  public void monitoredBarrier(Duration atMost, boolean waitAllRanks) {
    group.requireOpen();
    // Refuses what is no timeout.
    GroupOptions.defaults().withTimeout(atMost);
    group.monitoredBarrier(atMost, waitAllRanks);
  }

  @Override
  public List<Work> batch(List<P2POp> operations) {
    return messages().batch(operations);
  }

  @Override
  public Coalescing coalesce() {
    group.requireOpen();
    return group.coalescing().open();
  }

  @Override
  public Work barrier() {
    group.requireOpen();
    return begun(backend.barrier(timeout));
  }

  @Override
  public Work send(Tensor tensor, int destination, int tag) {
    return messages().send(tensor, destination, tag);
  }

  @Override
  public Work recv(Tensor tensor, int source, int tag) {
    return messages().recv(tensor, source, tag);
  }

  @Override
  public Work recvAny(Tensor tensor, int tag) {
    return messages().recvAny(tensor, tag);
  }

  private MessageRequests messages() {
    return new MessageRequests(group, backend, arguments, timeout);
  }

  @Override
  public void checkpoint(String name, List<Tensor> tensors) {
    checkpoints().save(name, tensors, false);
  }

  @Override
  public void checkpointReplicated(String name, List<Tensor> tensors) {
    checkpoints().save(name, tensors, true);
  }

  @Override
  public boolean restore(String name, List<Tensor> tensors) {
    return checkpoints().restore(name, tensors);
  }

  private CheckpointRequests checkpoints() {
    return new CheckpointRequests(group, within(backend.withinCall(timeout)), arguments);
  }

  /** This view for the operations of one call. */
  private RankProcessGroup within(Backend parts) {
    return new RankProcessGroup(group, parts, timeout, false);
  }

  @Override
  public ObjectCollectives objects() {
    Backend parts = backend.withinCall(timeout);
    ProcessGroup view = within(parts);
    return new StreamedObjectCollectives(view, parts, group.objectCodec());
  }

  @Override
  public ProcessGroup newGroup(int... globalRanks) {
    return newGroup(GroupOptions.defaults().withRanks(globalRanks));
  }

  @Override
  public ProcessGroup newGroup(GroupOptions options) {
    return derived().newGroup(options);
  }

  @Override
  public ProcessGroup newSubgroups(int groupSize) {
    return derived().newSubgroups(groupSize);
  }

  @Override
  public ProcessGroup newSubgroups(List<int[]> globalRanks) {
    return derived().newSubgroups(globalRanks);
  }

  @Override
  public ProcessGroup split(int color, int key) {
    return derived().split(color, key);
  }

  @Override
  public ProcessGroup shrink(int... excludedRanks) {
    return derived().shrink(excludedRanks);
  }

  @Override
  public List<ProcessGroup> groups() {
    return derived().open();
  }

  @Override
  public ProcessGroup group(String name) {
    return derived().named(name);
  }

  private DerivedGroups derived() {
    return new DerivedGroups(group, this, arguments);
  }

  @Override
  public String backend() {
    return group.backends().toString();
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    group.requireOpen();
    return backend.allocate(Objects.requireNonNull(dtype, "dtype"), count);
  }

  @Override
  public FlightRecorder flightRecorder() {
    return group.life().recorder();
  }

  @Override
  public void abort(Throwable cause) {
    group.abort(Objects.requireNonNull(cause, "cause"));
  }

  @Override
  public void close() {
    if (owner) {
      group.close(timeout);
    }
  }

  @Override
  public String toString() {
    return "ProcessGroup(\"" + name() + "\", rank " + rank() + " of " + size() + ")";
  }
}

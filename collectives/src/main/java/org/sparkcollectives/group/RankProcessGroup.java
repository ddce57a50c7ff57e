package org.sparkcollectives.group;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.ShrinkMode;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.object.StreamedObjectCollectives;
import org.sparkcollectives.recorder.FlightRecord;
import org.sparkcollectives.recorder.FlightRecorder;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.tensor.TensorView;

/** A process group, or a view of one: checks what the user gives and hands it to the backend. */
final class RankProcessGroup implements ProcessGroup {

  private final RankGroup group;
  private final Backends backends;
  private final Arguments arguments;
  private final CollectiveRequests collectives;
  private final Duration timeout;
  private final boolean owner;

  private RankProcessGroup(RankGroup group, Backends backends, Duration timeout, boolean owner) {
    this.group = group;
    this.backends = backends;
    this.arguments = new Arguments(group.name(), group.rank(), group.size());
    this.collectives = new CollectiveRequests(group, backends, arguments, timeout);
    this.timeout = timeout;
    this.owner = owner;
  }

  /** A handle that owns nothing. */
  static RankProcessGroup view(RankGroup group) {
    return new RankProcessGroup(
        group, group.backends(), group.options().timeout().orElseThrow(), false);
  }

  static RankProcessGroup owning(RankGroup group) {
    return new RankProcessGroup(
        group, group.backends(), group.options().timeout().orElseThrow(), true);
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
  public List<String> hosts() {
    return group.members().hostNames();
  }

  @Override
  public int localRank() {
    return group.members().localRank();
  }

  @Override
  public int localSize() {
    return group.members().ranksOnThisHost();
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
    return new RankProcessGroup(group, backends, other, false);
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
    group.monitor().ephemeralTimeout().extend(extra);
  }

  @Override
  public Work broadcast(Tensor tensor, int root) {
    return collectives.broadcast(tensor, root);
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op) {
    return collectives.allReduce(tensor, op);
  }

  @Override
  public Work allReduce(SparseTensor tensor) {
    return collectives.allReduce(tensor);
  }

  @Override
  public Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op) {
    return collectives.allReduceCoalesced(tensors, op);
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root) {
    return collectives.reduce(tensor, op, root);
  }

  @Override
  public Work allGather(Tensor output, Tensor input) {
    return collectives.allGather(output, input);
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input) {
    return collectives.allGather(outputs, input);
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op) {
    return collectives.reduceScatter(output, input, op);
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op) {
    return collectives.reduceScatter(output, inputs, op);
  }

  @Override
  public Work gather(List<Tensor> outputs, Tensor input, int root) {
    return collectives.gather(outputs, input, root);
  }

  @Override
  public Work scatter(Tensor output, List<Tensor> inputs, int root) {
    return collectives.scatter(output, inputs, root);
  }

  @Override
  public Work allToAll(Tensor output, Tensor input) {
    return collectives.allToAll(output, input);
  }

  @Override
  public Work allToAll(Tensor output, Tensor input, long[] outputSplits, long[] inputSplits) {
    return collectives.allToAll(output, input, outputSplits, inputSplits);
  }

  @Override
  public Work allToAll(List<Tensor> outputs, List<Tensor> inputs) {
    return collectives.allToAll(outputs, inputs);
  }

  @Override
  public Work barrier() {
    return collectives.barrier();
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
    return group.coalescing().open(backends.all());
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
    return new MessageRequests(group, backends, arguments, timeout);
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
    return new CheckpointRequests(
        group, within(backends.withinCall(timeout).hostOnly()), arguments);
  }

  /** This view for the operations of one call. */
  private RankProcessGroup within(Backends parts) {
    return new RankProcessGroup(group, parts, timeout, false);
  }

  @Override
  public ObjectCollectives objects() {
    Backends parts = backends.withinCall(timeout).hostOnly();
    return parts
        .forHost()
        .objects()
        .orElseGet(
            () ->
                new StreamedObjectCollectives(within(parts), parts.forHost(), group.objectCodec()));
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
  public ProcessGroup newSubgroups(int groupSize, GroupOptions options) {
    return derived().newSubgroups(groupSize, options);
  }

  @Override
  public ProcessGroup newSubgroups(List<int[]> globalRanks, GroupOptions options) {
    return derived().newSubgroups(globalRanks, options);
  }

  @Override
  public ProcessGroup newLocalGroup(GroupOptions options) {
    return derived().newLocalGroup(options);
  }

  @Override
  public ProcessGroup split(int color, int key, GroupOptions options) {
    return derived().split(color, key, options);
  }

  @Override
  public ProcessGroup shrink(int[] excludedGroupRanks, ShrinkMode mode, GroupOptions options) {
    return derived().shrink(excludedGroupRanks, mode, options);
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
    return new DerivedGroups(
        group, within(backends.hostOnly()), new SubgroupArguments(group.members()));
  }

  @Override
  public String backend() {
    return group.backends().toString();
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    group.requireOpen();
    return backends.forMemory().allocate(Objects.requireNonNull(dtype, "dtype"), count);
  }

  @Override
  public Tensor allocate(DType dtype, long count, Device.Type device) {
    group.requireOpen();
    return backends.forDevice(device).allocate(Objects.requireNonNull(dtype, "dtype"), count);
  }

  @Override
  public MemoryRegistration register(Tensor tensor) {
    group.requireOpen();
    return backends.forDevice(TensorView.of(tensor).device().type()).register(tensor);
  }

  @Override
  public SharedMemory allocateShared(long bytes) throws IOException {
    group.requireOpen();
    return backends.forHost().allocateShared(bytes);
  }

  @Override
  public void onCompletion(Consumer<FlightRecord> hook) {
    group.requireNotClosed();
    group.monitor().completionHooks().add(Objects.requireNonNull(hook, "hook"));
  }

  @Override
  public FlightRecorder flightRecorder() {
    return group.monitor().recorder();
  }

  @Override
  public void setNanCheck(boolean enabled) {
    group.requireNotClosed();
    group.setNanCheck(enabled);
  }

  @Override
  public boolean isFailed() {
    return group.monitor().state().failed();
  }

  @Override
  public Optional<Failure> failure() {
    return Optional.ofNullable(group.monitor().state().failure());
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
  public boolean equals(Object other) {
    return other instanceof RankProcessGroup that && group == that.group;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(group);
  }

  @Override
  public String toString() {
    return "ProcessGroup(\"" + name() + "\", rank " + rank() + " of " + size() + ")";
  }
}

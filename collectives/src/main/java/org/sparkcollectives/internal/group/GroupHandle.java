package org.sparkcollectives.internal.group;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CommLabel;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.Failure;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.FlightRecorder;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.ShrinkMode;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.WaitStatistics;
import org.sparkcollectives.internal.failure.ClosingTime;
import org.sparkcollectives.internal.object.StreamedObjectCollectives;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.CallCheck;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorView;
import org.sparkcollectives.store.Store;

/**
 * Implements what a handle of a group offers beside its operations: its ranks, store, checkpoints,
 * objects, subgroups, memory, records and end.
 */
abstract class GroupHandle implements ProcessGroup {

  private final RankGroup group;
  private final Backends backends;
  private final Duration timeout;
  private final boolean owner;

  /**
   * Creates a handle.
   *
   * @param backends carry out the operations of this handle
   * @param timeout of each operation that is begun by this handle
   * @param owner whether closing the handle closes the group
   */
  GroupHandle(RankGroup group, Backends backends, Duration timeout, boolean owner) {
    this.group = group;
    this.backends = backends;
    this.timeout = timeout;
    this.owner = owner;
  }

  /** Returns another handle of the group, which does not close it. */
  abstract ProcessGroup view(Backends others, Duration otherTimeout);

  /**
   * Returns a handle of another group of this rank.
   *
   * @param closes whether closing the handle closes the group
   */
  abstract ProcessGroup handle(RankGroup other, boolean closes);

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
    GroupOptions.defaults().withTimeout(other); // refuses what is no timeout
    return view(backends, other);
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
  public void monitoredBarrier(Duration atMost, boolean waitAllRanks) {
    group.requireOpen();
    GroupOptions.defaults().withTimeout(atMost); // refuses what is no timeout
    group.monitoredBarrier(atMost, waitAllRanks);
  }

  @Override
  public Coalescing coalesce() {
    group.requireOpen();
    return group.coalescing().open(backends.all());
  }

  @Override
  public void broadcastCoalesced(List<Tensor> tensors, long bufferBytes, int root) {
    group.requireOpen();
    Backends parts = backends.withinCall(timeout);
    Arguments arguments = new Arguments(group.name(), group.rank(), group.size());
    String operation = "broadcast-coalesced";
    new CallCheck(view(parts.hostOnly(), timeout), operation)
        .compare(
            () -> {
              arguments.coalesced(operation, tensors, bufferBytes, root);
              if (group.nanCheck() && root == group.rank()) {
                tensors.stream()
                    .filter(HostTensor.class::isInstance)
                    .forEach(each -> arguments.checkNan(operation, "tensor", (HostTensor) each));
              }
              return CoalescedBroadcast.describe(tensors, bufferBytes, root);
            });
    try {
      new CoalescedBroadcast(view(parts, timeout), List.copyOf(tensors), root).run(bufferBytes);
    } catch (CollectiveException e) {
      throw e;
    } catch (RuntimeException | Error e) { // Of a copy: the others wait for what this rank sends.
      throw group.monitor().reports().callFailed(operation, e);
    }
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
    Backends parts = backends.withinCall(timeout).hostOnly();
    return new CheckpointRequests(
        group, view(parts, timeout), new Arguments(group.name(), group.rank(), group.size()));
  }

  @Override
  public ObjectCollectives objects() {
    Backends parts = backends.withinCall(timeout).hostOnly();
    return parts
        .forHost()
        .objects()
        .orElseGet(
            () ->
                new StreamedObjectCollectives(
                    view(parts, timeout), parts.forHost(), group.objectCodec()));
  }

  @Override
  public ProcessGroup newGroup(int... globalRanks) {
    return newGroup(GroupOptions.defaults().withRanks(globalRanks));
  }

  @Override
  public ProcessGroup newGroup(GroupOptions options) {
    return owning(derived().newGroup(options));
  }

  @Override
  public ProcessGroup newSubgroups(int groupSize, GroupOptions options) {
    return owning(derived().newSubgroups(groupSize, options));
  }

  @Override
  public ProcessGroup newSubgroups(List<int[]> globalRanks, GroupOptions options) {
    return owning(derived().newSubgroups(globalRanks, options));
  }

  @Override
  public ProcessGroup newLocalGroup(GroupOptions options) {
    return owning(derived().newLocalGroup(options));
  }

  @Override
  public ProcessGroup split(int color, int key, GroupOptions options) {
    return owning(derived().split(color, key, options));
  }

  @Override
  public ProcessGroup mergeRemoteGroup(Store store, int size, GroupOptions options) {
    return owning(derived().mergeRemoteGroup(store, size, options));
  }

  @Override
  public ProcessGroup shrink(int[] excludedGroupRanks, ShrinkMode mode, GroupOptions options) {
    return owning(derived().shrink(excludedGroupRanks, mode, options));
  }

  @Override
  public List<ProcessGroup> groups() {
    return group.subgroups().open().stream().map(made -> handle(made, false)).toList();
  }

  @Override
  public ProcessGroup group(String name) {
    return handle(derived().named(name), false);
  }

  /** Returns the handle that closes a group; null where this rank is no member. */
  private ProcessGroup owning(RankGroup made) {
    return made == null ? null : handle(made, true);
  }

  private DerivedGroups derived() {
    return new DerivedGroups(
        group, view(backends.hostOnly(), timeout), new SubgroupArguments(group.members()));
  }

  @Override
  public AlgorithmChoices explain(DType dtype, ReduceOp op) {
    return new AlgorithmChoices(
        group.members().layout(), dtype, op, backends.forHost().explain(dtype, op));
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
  public CommLabel recordComm(String name) {
    group.requireNotClosed();
    if (name.isEmpty()) {
      throw new IllegalArgumentException(
          "recordComm of group \"" + name() + "\" on rank " + rank() + ": the name is empty");
    }
    return group.monitor().records().label(name);
  }

  @Override
  public FlightRecorder flightRecorder() {
    return group.monitor().recorder();
  }

  @Override
  public GroupStatistics statistics() {
    return group.statistics();
  }

  @Override
  public List<WaitStatistics> waits() {
    return group.monitor().records().waits();
  }

  @Override
  public void progress(long done, long total, String text) {
    group.requireNotClosed();
    group.progress(done, total, Objects.requireNonNull(text, "text"));
  }

  @Override
  public void setNanCheck(boolean enabled) {
    group.requireNotClosed();
    group.setNanCheck(enabled);
  }

  @Override
  public void enableTiming() {
    group.requireNotClosed();
    group.backends().all().forEach(Backend::enableTiming);
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
      group.close(ClosingTime.of(timeout));
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof GroupHandle that && group == that.group;
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

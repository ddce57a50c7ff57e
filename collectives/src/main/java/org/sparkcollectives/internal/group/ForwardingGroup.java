package org.sparkcollectives.internal.group;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.CommLabel;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.FlightRecorder;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.ShrinkMode;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.WaitStatistics;
import org.sparkcollectives.Work;
import org.sparkcollectives.store.Store;

/**
 * Hands each call on to the group that is there when the call is made. What must work without a
 * group is left to the subclass.
 */
abstract class ForwardingGroup implements ProcessGroup {

  /**
   * Returns the group that takes the calls now.
   *
   * @throws IllegalStateException if there is none
   */
  abstract ProcessGroup present();

  @Override
  public int globalRank(int groupRank) {
    return present().globalRank(groupRank);
  }

  @Override
  public int groupRank(int globalRank) {
    return present().groupRank(globalRank);
  }

  @Override
  public int[] globalRanks() {
    return present().globalRanks();
  }

  @Override
  public List<String> hosts() {
    return present().hosts();
  }

  @Override
  public int localRank() {
    return present().localRank();
  }

  @Override
  public int localSize() {
    return present().localSize();
  }

  @Override
  public ProcessGroup newGroup(int... globalRanks) {
    return present().newGroup(globalRanks);
  }

  @Override
  public ProcessGroup newGroup(GroupOptions options) {
    return present().newGroup(options);
  }

  @Override
  public ProcessGroup newSubgroups(int groupSize, GroupOptions options) {
    return present().newSubgroups(groupSize, options);
  }

  @Override
  public ProcessGroup newSubgroups(List<int[]> globalRanks, GroupOptions options) {
    return present().newSubgroups(globalRanks, options);
  }

  @Override
  public ProcessGroup newLocalGroup(GroupOptions options) {
    return present().newLocalGroup(options);
  }

  @Override
  public ProcessGroup split(int color, int key, GroupOptions options) {
    return present().split(color, key, options);
  }

  @Override
  public ProcessGroup mergeRemoteGroup(Store store, int size, GroupOptions options) {
    return present().mergeRemoteGroup(store, size, options);
  }

  @Override
  public ProcessGroup shrink(int[] excludedGroupRanks, ShrinkMode mode, GroupOptions options) {
    return present().shrink(excludedGroupRanks, mode, options);
  }

  @Override
  public List<ProcessGroup> groups() {
    return present().groups();
  }

  @Override
  public AlgorithmChoices explain(DType dtype, ReduceOp op) {
    return present().explain(dtype, op);
  }

  @Override
  public String backend() {
    return present().backend();
  }

  @Override
  public CommLabel recordComm(String name) {
    return present().recordComm(name);
  }

  @Override
  public FlightRecorder flightRecorder() {
    return present().flightRecorder();
  }

  @Override
  public GroupStatistics statistics() {
    return present().statistics();
  }

  @Override
  public List<WaitStatistics> waits() {
    return present().waits();
  }

  @Override
  public void progress(long done, long total, String text) {
    present().progress(done, total, text);
  }

  @Override
  public Store store() {
    return present().store();
  }

  @Override
  public void extendTimeout(Duration extra) {
    present().extendTimeout(extra);
  }

  @Override
  public Work broadcast(Tensor tensor, int root) {
    return present().broadcast(tensor, root);
  }

  @Override
  public void broadcastCoalesced(List<Tensor> tensors, long bufferBytes, int root) {
    present().broadcastCoalesced(tensors, bufferBytes, root);
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op) {
    return present().allReduce(tensor, op);
  }

  @Override
  public Work allReduce(SparseTensor tensor) {
    return present().allReduce(tensor);
  }

  @Override
  public Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op) {
    return present().allReduceCoalesced(tensors, op);
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root) {
    return present().reduce(tensor, op, root);
  }

  @Override
  public Work allGather(Tensor output, Tensor input) {
    return present().allGather(output, input);
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input) {
    return present().allGather(outputs, input);
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op) {
    return present().reduceScatter(output, input, op);
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op) {
    return present().reduceScatter(output, inputs, op);
  }

  @Override
  public Work gather(List<Tensor> outputs, Tensor input, int root) {
    return present().gather(outputs, input, root);
  }

  @Override
  public Work scatter(Tensor output, List<Tensor> inputs, int root) {
    return present().scatter(output, inputs, root);
  }

  @Override
  public Work allToAll(Tensor output, Tensor input) {
    return present().allToAll(output, input);
  }

  @Override
  public Work allToAll(Tensor output, Tensor input, long[] outputSplits, long[] inputSplits) {
    return present().allToAll(output, input, outputSplits, inputSplits);
  }

  @Override
  public Work allToAll(List<Tensor> outputs, List<Tensor> inputs) {
    return present().allToAll(outputs, inputs);
  }

  @Override
  public Work barrier() {
    return present().barrier();
  }

  @Override
  public PersistentCollective allReduceInit(Tensor tensor, ReduceOp op) {
    return present().allReduceInit(tensor, op);
  }

  @Override
  public PersistentCollective broadcastInit(Tensor tensor, int root) {
    return present().broadcastInit(tensor, root);
  }

  @Override
  public PersistentCollective allGatherInit(Tensor output, Tensor input) {
    return present().allGatherInit(output, input);
  }

  @Override
  public PersistentCollective allGatherInit(List<Tensor> outputs, Tensor input) {
    return present().allGatherInit(outputs, input);
  }

  @Override
  public PersistentCollective reduceScatterInit(Tensor output, Tensor input, ReduceOp op) {
    return present().reduceScatterInit(output, input, op);
  }

  @Override
  public PersistentCollective reduceScatterInit(Tensor output, List<Tensor> inputs, ReduceOp op) {
    return present().reduceScatterInit(output, inputs, op);
  }

  @Override
  public PersistentCollective gatherInit(List<Tensor> outputs, Tensor input, int root) {
    return present().gatherInit(outputs, input, root);
  }

  @Override
  public Work send(Tensor tensor, int destination, int tag) {
    return present().send(tensor, destination, tag);
  }

  @Override
  public Work recv(Tensor tensor, int source, int tag) {
    return present().recv(tensor, source, tag);
  }

  @Override
  public Work recvAny(Tensor tensor, int tag) {
    return present().recvAny(tensor, tag);
  }

  @Override
  public void monitoredBarrier(Duration timeout, boolean waitAllRanks) {
    present().monitoredBarrier(timeout, waitAllRanks);
  }

  @Override
  public List<Work> batch(List<P2POp> operations) {
    return present().batch(operations);
  }

  @Override
  public Coalescing coalesce() {
    return present().coalesce();
  }

  @Override
  public ObjectCollectives objects() {
    return present().objects();
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    return present().allocate(dtype, count);
  }

  @Override
  public Tensor allocate(DType dtype, long count, Device.Type device) {
    return present().allocate(dtype, count, device);
  }

  @Override
  public MemoryRegistration register(Tensor tensor) {
    return present().register(tensor);
  }

  @Override
  public SharedMemory allocateShared(long bytes) throws IOException {
    return present().allocateShared(bytes);
  }

  @Override
  public void checkpoint(String name, List<Tensor> tensors) {
    present().checkpoint(name, tensors);
  }

  @Override
  public void checkpointReplicated(String name, List<Tensor> tensors) {
    present().checkpointReplicated(name, tensors);
  }

  @Override
  public boolean restore(String name, List<Tensor> tensors) {
    return present().restore(name, tensors);
  }
}

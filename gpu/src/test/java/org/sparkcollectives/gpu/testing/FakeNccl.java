package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.gpu.nccl.Nccl;

/**
 * NCCL for ranks of one JVM over a {@link FakeCuda}, nonblocking. It has NCCL's semantics, and
 * records as a violation what would make NCCL hang or crash.
 */
public final class FakeNccl implements Nccl {

  private final FakeCuda cuda;
  private final AtomicLong ids = new AtomicLong();
  private final List<String> violations = new CopyOnWriteArrayList<>();
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final FakeReductions reductions = new FakeReductions(violations);
  private final FakeNcclFaults faults = new FakeNcclFaults();
  private final FakeCommunicators communicators;
  private final FakeNcclMemory memory;
  private final FakeNcclGroups groups;
  private volatile int version = 22809;

  /** Creates the library over a driver, which all ranks share. */
  public FakeNccl(FakeCuda cuda) {
    this.cuda = cuda;
    this.communicators = new FakeCommunicators(cuda, faults, violations);
    this.memory = new FakeNcclMemory(cuda, faults, violations);
    this.groups = new FakeNcclGroups(cuda);
  }

  /** Returns the faults, of which there are none yet. */
  public FakeNcclFaults faults() {
    return faults;
  }

  /** Returns the calls that would have made NCCL hang or crash. */
  public List<String> violations() {
    return violations;
  }

  /** Returns the names of the functions that were called, in order. */
  public List<String> calls() {
    return calls;
  }

  /** Returns the number of communicators. */
  public int communicators() {
    return communicators.count();
  }

  /** Returns the number of registrations of memory. */
  public int registrations() {
    return memory.registrations();
  }

  /** Returns how many allocations of its own are not freed. */
  public int allocations() {
    return memory.allocations();
  }

  /** Makes the library report another version. */
  public void pretend(int otherVersion) {
    version = otherVersion;
  }

  /** Makes the communicators of a rank report an error from now on. */
  public void injectError(int rank, int code) {
    communicators.injectError(rank, code);
  }

  private void called(String function) {
    calls.add(function);
    faults.applyTo(function);
  }

  @Override
  public int version() {
    return version;
  }

  @Override
  public String errorString(int result) {
    return FakeNcclResult.text(result);
  }

  @Override
  public String lastError(long communicator) {
    return "";
  }

  @Override
  public boolean canShrink() {
    return version >= 22700;
  }

  @Override
  public boolean canAllToAll() {
    return version >= 22803;
  }

  @Override
  public int uniqueId(byte[] id) {
    called("ncclGetUniqueId");
    ByteBuffer.wrap(id).putLong(0, ids.incrementAndGet());
    return FakeNcclResult.SUCCESS;
  }

  @Override
  public int commInit(ByteBuffer slot, int size, int rank, byte[] id, ByteBuffer configuration) {
    called(id.length == UNIQUE_ID_BYTES ? "ncclCommInitRankConfig" : "ncclCommInitRankScalable");
    return communicators.init(slot, size, rank, id, configuration);
  }

  @Override
  public int commSplit(
      long communicator, int color, int key, ByteBuffer slot, ByteBuffer configuration) {
    called("ncclCommSplit");
    return communicators.split(communicator, color, key, slot, configuration);
  }

  @Override
  public int commShrink(
      long communicator, int[] excluded, ByteBuffer slot, ByteBuffer configuration, int flags) {
    called("ncclCommShrink");
    return communicators.shrink(communicator, excluded, slot, configuration);
  }

  @Override
  public int commFinalize(long communicator) {
    called("ncclCommFinalize");
    return communicators.finish(communicator);
  }

  @Override
  public int commDestroy(long communicator) {
    return communicators.destroy(communicator);
  }

  @Override
  public int commAbort(long communicator) {
    called("ncclCommAbort");
    return communicators.abort(communicator);
  }

  @Override
  public int asyncError(long communicator) {
    return communicators.asyncError(communicator);
  }

  @Override
  public int commRegister(long communicator, long address, long bytes, ByteBuffer slot) {
    communicators.get(communicator);
    return memory.register(address, slot);
  }

  @Override
  public int commDeregister(long communicator, long handle) {
    communicators.get(communicator);
    return memory.deregister(handle);
  }

  @Override
  public int memAlloc(ByteBuffer slot, long bytes) {
    return memory.allocate(slot, bytes);
  }

  @Override
  public int memFree(long address) {
    return memory.free(address);
  }

  @Override
  public int groupStart() {
    called("ncclGroupStart");
    groups.begin();
    return FakeNcclResult.SUCCESS;
  }

  @Override
  public int groupEnd() {
    groups.end(() -> called("ncclGroupEnd"));
    return FakeNcclResult.SUCCESS;
  }

  private int call(String name, FakeNcclCall call, long handle) {
    FakeCommunicator communicator = communicators.get(handle);
    called(name);
    communicators.requireUnused(communicator, name);
    if (communicator.error.get() == FakeNcclResult.IN_PROGRESS) {
      return FakeNcclResult.INVALID_ARGUMENT;
    }
    if (!groups.add(call, communicator)) {
      violations.add(name + " outside of a group");
    }
    return FakeNcclResult.SUCCESS;
  }

  private FakeNcclCall.Target target(long communicator, long stream, long count, int type) {
    return new FakeNcclCall.Target(
        cuda, communicators.get(communicator), stream, count, type, reductions);
  }

  @Override
  public int allReduce(
      long send, long receive, long count, int type, int op, long communicator, long stream) {
    return call(
        "ncclAllReduce",
        FakeNcclCall.reduction(
            target(communicator, stream, count, type), "all-reduce", send, receive, op, -1),
        communicator);
  }

  @Override
  public int reduce(
      long send,
      long receive,
      long count,
      int type,
      int op,
      int root,
      long communicator,
      long stream) {
    return call(
        "ncclReduce",
        FakeNcclCall.reduction(
            target(communicator, stream, count, type), "reduce", send, receive, op, root),
        communicator);
  }

  @Override
  public int broadcast(
      long send, long receive, long count, int type, int root, long communicator, long stream) {
    return call(
        "ncclBroadcast",
        FakeNcclCall.broadcast(target(communicator, stream, count, type), send, receive, root),
        communicator);
  }

  @Override
  public int allGather(
      long send, long receive, long count, int type, long communicator, long stream) {
    return call(
        "ncclAllGather",
        FakeNcclCall.allGather(target(communicator, stream, count, type), send, receive),
        communicator);
  }

  @Override
  public int reduceScatter(
      long send, long receive, long count, int type, int op, long communicator, long stream) {
    return call(
        "ncclReduceScatter",
        FakeNcclCall.reduceScatter(target(communicator, stream, count, type), send, receive, op),
        communicator);
  }

  @Override
  public int allToAll(
      long send, long receive, long count, int type, long communicator, long stream) {
    if (!canAllToAll()) {
      violations.add("ncclAlltoAll is not in this version");
    }
    return call(
        "ncclAlltoAll",
        FakeNcclCall.allToAll(target(communicator, stream, count, type), send, receive),
        communicator);
  }

  @Override
  public int send(long address, long count, int type, int peer, long communicator, long stream) {
    return call(
        "ncclSend",
        FakeNcclCall.send(target(communicator, stream, count, type), address, peer),
        communicator);
  }

  @Override
  public int receive(long address, long count, int type, int peer, long communicator, long stream) {
    return call(
        "ncclRecv",
        FakeNcclCall.receive(target(communicator, stream, count, type), address, peer),
        communicator);
  }

  @Override
  public int preMulSum(ByteBuffer slot, ByteBuffer factor, int type, long communicator) {
    communicators.get(communicator);
    return reductions.create(slot, factor, type);
  }

  @Override
  public int destroyOp(int op, long communicator) {
    communicators.get(communicator);
    return reductions.destroy(op);
  }
}

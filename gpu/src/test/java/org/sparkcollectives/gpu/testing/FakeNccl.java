package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.nccl.Nccl;

/**
 * NCCL for ranks of one JVM over a {@link FakeCuda}, nonblocking. It has NCCL's semantics, and
 * records as a violation what would make NCCL hang or crash.
 */
public final class FakeNccl implements Nccl {

  private static final int SUCCESS = 0;
  private static final int UNHANDLED_CUDA_ERROR = 1;
  private static final int INTERNAL_ERROR = 3;
  private static final int INVALID_ARGUMENT = 4;
  private static final int INVALID_USAGE = 5;
  private static final int REMOTE_ERROR = 6;
  private static final int IN_PROGRESS = 7;
  private static final int FIRST_MADE_OP = 5;

  /**
   * The places in {@code ncclConfig_t} that say whether calls block, and whether children share
   * resources.
   */
  private static final int BLOCKING_AT = 16;

  private static final int SPLIT_SHARE_AT = 40;

  private final FakeCuda cuda;
  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong handles = new AtomicLong(0x7000);
  private final AtomicInteger ops = new AtomicInteger(FIRST_MADE_OP);
  private final Map<String, Meeting> meetings = new ConcurrentHashMap<>();
  private final Map<Long, Member> members = new ConcurrentHashMap<>();
  private final Map<String, FakeNcclSplit> splits = new ConcurrentHashMap<>();
  private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
  private final Map<String, Error> errors = new ConcurrentHashMap<>();
  private final Map<Integer, Double> factors = new ConcurrentHashMap<>();
  private final Map<Long, Long> registrations = new ConcurrentHashMap<>();
  private final Set<Long> allocated = ConcurrentHashMap.newKeySet();
  private final List<String> violations = new CopyOnWriteArrayList<>();
  private final List<String> calls = new CopyOnWriteArrayList<>();

  @SuppressWarnings("ThreadLocalUsage") // Belongs to this library.
  private final ThreadLocal<Group> grouped = new ThreadLocal<>();

  private volatile int version = 22809;
  private volatile boolean abortsHang;
  private volatile int registrationResult = SUCCESS;

  /** Creates the library over a driver, which all ranks share. */
  public FakeNccl(FakeCuda cuda) {
    this.cuda = cuda;
  }

  /** The ranks that make one communicator. */
  private static final class Meeting {
    private final Member[] all;
    private int arrived;

    Meeting(int size) {
      this.all = new Member[size];
    }
  }

  /** The calls of a thread since it began a group. */
  private record Group(List<FakeNcclCall> calls, Set<Member> members) {}

  /** A rank's communicator. */
  static final class Member {
    final FakeNcclExchange exchange;
    final int rank;
    final int size;
    final AtomicInteger error = new AtomicInteger(IN_PROGRESS);
    final AtomicInteger collectives = new AtomicInteger();
    volatile boolean gone;

    /** The thread inside a call of NCCL for it. */
    final AtomicReference<Thread> user = new AtomicReference<>();

    /** The communicators that are being created from it, or null. */
    volatile FakeNcclSplit.Request making;

    Member(FakeNcclExchange exchange, int rank, int size) {
      this.exchange = exchange;
      this.rank = rank;
      this.size = size;
    }
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
    return members.size();
  }

  /** Returns the number of registrations of memory. */
  public int registrations() {
    return registrations.size();
  }

  /** Returns how many allocations of its own are not freed. */
  public int allocations() {
    return allocated.size();
  }

  /** Makes registrations return this result from now on. */
  public void refuseRegistrations(int result) {
    registrationResult = result;
  }

  /** Makes the library report another version. */
  public void pretend(int otherVersion) {
    version = otherVersion;
  }

  /** Makes the communicators of a rank report an error from now on. */
  public void injectError(int rank, int code) {
    members.values().stream()
        .filter(each -> each.rank == rank)
        .forEach(each -> each.error.set(code));
  }

  /** Makes aborts hang from now on, until this is called with false. */
  public synchronized void hangAborts(boolean hang) {
    abortsHang = hang;
    notifyAll();
  }

  /**
   * Makes calls of a function hang from now on, until the returned latch is counted down.
   *
   * @param function such as {@code ncclGroupEnd}, or {@code ncclCommSplit of rank 1}
   */
  public CountDownLatch hang(String function) {
    CountDownLatch gate = new CountDownLatch(1);
    gates.put(function, gate);
    return gate;
  }

  /** Makes calls of a function throw from now on, as if the library lacked it; null ends that. */
  public void throwFrom(String function, Error error) {
    if (error == null) {
      errors.remove(function);
    } else {
      errors.put(function, error);
    }
  }

  private void called(String function) {
    calls.add(function);
    misbehaveIn(function);
  }

  private void misbehaveIn(String function) {
    Error error = errors.get(function);
    if (error != null) {
      throw error;
    }
    CountDownLatch gate = gates.get(function);
    try {
      if (gate != null) {
        gate.await();
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Records a violation if another thread is inside a call for the communicator. */
  private void requireUnused(Member member, String function) {
    Thread user = member.user.get();
    if (user != null && user != Thread.currentThread()) {
      violations.add(function + " while another thread is within a call for the communicator");
    }
  }

  private Member member(long communicator) {
    Member member = members.get(communicator);
    if (member == null) {
      violations.add("a call with a communicator that is gone");
      throw new AssertionError("a call with a communicator that is gone");
    }
    return member;
  }

  @Override
  public int version() {
    return version;
  }

  @Override
  public String errorString(int result) {
    return result == REMOTE_ERROR ? "remote process exited or there was a network error" : "error";
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
    return SUCCESS;
  }

  @Override
  public int commInit(ByteBuffer slot, int size, int rank, byte[] id, ByteBuffer configuration) {
    called(id.length == UNIQUE_ID_BYTES ? "ncclCommInitRankConfig" : "ncclCommInitRankScalable");
    requireNothingShared(configuration);
    String key = HexFormat.of().formatHex(id);
    int result = join(key, slot, size, rank);
    return result == IN_PROGRESS && configuration.getInt(BLOCKING_AT) == 1
        ? awaitWhole(meetings.get(key))
        : result;
  }

  private static int awaitWhole(Meeting meeting) {
    synchronized (meeting) {
      while (meeting.arrived < meeting.all.length) {
        try {
          meeting.wait();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return SUCCESS;
    }
  }

  /** Records a violation if communicators share resources: an abort of one would end the other. */
  private void requireNothingShared(ByteBuffer configuration) {
    if (configuration.getInt(SPLIT_SHARE_AT) == 1) {
      violations.add("communicators share resources");
    }
  }

  private int join(String key, ByteBuffer slot, int size, int rank) {
    if (cuda.currentContext() == 0) {
      violations.add("a communicator is made without a context");
    }
    Meeting meeting = meetings.computeIfAbsent(key, none -> new Meeting(size));
    synchronized (meeting) {
      Member member = new Member(new FakeNcclExchange(), rank, size);
      if (meeting.arrived > 0) {
        member = new Member(first(meeting).exchange, rank, size);
      }
      if (meeting.all.length != size || meeting.all[rank] != null) {
        violations.add("rank " + rank + " of " + size + " joins twice, or with another size");
        return INVALID_USAGE;
      }
      meeting.all[rank] = member;
      meeting.arrived++;
      long handle = handles.addAndGet(16);
      members.put(handle, member);
      slot.putLong(0, handle);
      if (meeting.arrived == size) {
        for (Member each : meeting.all) {
          each.error.compareAndSet(IN_PROGRESS, SUCCESS);
        }
        meeting.notifyAll();
      }
      return IN_PROGRESS;
    }
  }

  private static Member first(Meeting meeting) {
    return Arrays.stream(meeting.all).filter(each -> each != null).findFirst().orElseThrow();
  }

  @Override
  public int commSplit(
      long communicator, int color, int key, ByteBuffer slot, ByteBuffer configuration) {
    called("ncclCommSplit");
    requireNothingShared(configuration);
    Member parent = member(communicator);
    misbehaveIn("ncclCommSplit of rank " + parent.rank);
    String what =
        "split of "
            + System.identityHashCode(parent.exchange)
            + " "
            + parent.collectives.getAndIncrement();
    return makeOf(what, parent, parent.size, new FakeNcclSplit.Request(parent, color, key, slot));
  }

  @Override
  public int commShrink(
      long communicator, int[] excluded, ByteBuffer slot, ByteBuffer configuration, int flags) {
    called("ncclCommShrink");
    requireNothingShared(configuration);
    Member parent = member(communicator);
    String what =
        "shrink of " + System.identityHashCode(parent.exchange) + Arrays.toString(excluded);
    return makeOf(
        what,
        parent,
        parent.size - excluded.length,
        new FakeNcclSplit.Request(parent, 0, parent.rank, slot));
  }

  /**
   * Creates communicators from another one. The call is in progress until all ranks have called;
   * the handles are written first, and only then is the result known.
   */
  private int makeOf(String what, Member parent, int expected, FakeNcclSplit.Request request) {
    requireUnused(parent, what);
    if (!parent.error.compareAndSet(SUCCESS, IN_PROGRESS)) {
      return INVALID_ARGUMENT;
    }
    synchronized (splits) {
      parent.making = request;
      FakeNcclSplit split = splits.computeIfAbsent(what, none -> new FakeNcclSplit());
      for (FakeNcclSplit.Request each : split.add(request, expected)) {
        if (each.color() != NO_COLOR) {
          List<Integer> same = split.ranksOf(each.color());
          join(
              what + " " + each.color(),
              each.slot(),
              same.size(),
              same.indexOf(each.parent().rank));
        }
        each.parent().making = null;
        each.parent().error.compareAndSet(IN_PROGRESS, SUCCESS);
      }
    }
    return IN_PROGRESS;
  }

  @Override
  public int commFinalize(long communicator) {
    called("ncclCommFinalize");
    Member member = member(communicator);
    requireUnused(member, "ncclCommFinalize");
    return member.error.get() == IN_PROGRESS ? INVALID_ARGUMENT : SUCCESS;
  }

  @Override
  public int commDestroy(long communicator) {
    Member member = member(communicator);
    member.gone = true;
    members.remove(communicator);
    return SUCCESS;
  }

  @Override
  public int commAbort(long communicator) {
    called("ncclCommAbort");
    Member member = member(communicator);
    requireUnused(member, "ncclCommAbort");
    synchronized (this) {
      while (abortsHang) {
        try {
          wait();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
    }
    member.gone = true;
    members.remove(communicator);
    endMaking(member);
    members.values().stream()
        .filter(each -> each.exchange == member.exchange)
        .forEach(each -> each.error.compareAndSet(SUCCESS, REMOTE_ERROR));
    member.exchange.wake();
    return SUCCESS;
  }

  /** Ends the creation of communicators from one that is gone. */
  private void endMaking(Member member) {
    synchronized (splits) {
      FakeNcclSplit.Request making = member.making;
      if (making == null) {
        return;
      }
      splits.values().forEach(each -> each.withdraw(making));
      if (making.color() != NO_COLOR) {
        // A communicator that could not be created has a handle, too.
        Member failed = new Member(new FakeNcclExchange(), 0, 1);
        failed.error.set(INTERNAL_ERROR);
        long handle = handles.addAndGet(16);
        members.put(handle, failed);
        making.slot().putLong(0, handle);
      }
    }
  }

  @Override
  public int asyncError(long communicator) {
    Member member = member(communicator);
    requireUnused(member, "ncclCommGetAsyncError");
    misbehaveIn("ncclCommGetAsyncError");
    return member.error.get();
  }

  @Override
  public int commRegister(long communicator, long address, long bytes, ByteBuffer slot) {
    member(communicator);
    if (registrationResult != SUCCESS) {
      return registrationResult;
    }
    long handle = handles.addAndGet(16);
    registrations.put(handle, address);
    slot.putLong(0, handle);
    return SUCCESS;
  }

  @Override
  public int commDeregister(long communicator, long handle) {
    member(communicator);
    registrations.remove(handle);
    return SUCCESS;
  }

  @Override
  public int memAlloc(ByteBuffer slot, long bytes) {
    long address;
    try {
      address = cuda.allocate(bytes);
    } catch (CudaException e) {
      return UNHANDLED_CUDA_ERROR;
    }
    allocated.add(address);
    slot.putLong(0, address);
    return SUCCESS;
  }

  @Override
  public int memFree(long address) {
    if (!allocated.remove(address)) {
      violations.add("memory is freed that is not NCCL's");
    }
    cuda.unmap(address);
    return SUCCESS;
  }

  @Override
  public int groupStart() {
    called("ncclGroupStart");
    grouped.set(new Group(new ArrayList<>(), new HashSet<>()));
    return SUCCESS;
  }

  @Override
  public int groupEnd() {
    Group group = grouped.get();
    grouped.remove();
    try {
      called("ncclGroupEnd");
      List<FakeNcclCall> all = group.calls();
      // All calls of one stream start before any of them waits.
      if (!all.isEmpty()) {
        cuda.enqueue(
            all.get(0).stream(),
            () -> {
              all.forEach(FakeNcclCall::give);
              all.forEach(FakeNcclCall::take);
            });
      }
      return SUCCESS;
    } finally {
      group.members().forEach(each -> each.user.set(null));
    }
  }

  private int call(String name, FakeNcclCall made, Member member) {
    called(name);
    requireUnused(member, name);
    if (member.error.get() == IN_PROGRESS) {
      return INVALID_ARGUMENT;
    }
    Group group = grouped.get();
    if (group == null) {
      violations.add(name + " outside of a group");
    } else {
      group.calls().add(made);
      group.members().add(member);
      member.user.set(Thread.currentThread());
    }
    return SUCCESS;
  }

  private FakeNcclCall.Target target(long communicator, long stream, long count, int type) {
    return new FakeNcclCall.Target(cuda, member(communicator), stream, count, type, factors);
  }

  @Override
  public int allReduce(
      long send, long receive, long count, int type, int op, long communicator, long stream) {
    Member member = member(communicator);
    return call(
        "ncclAllReduce",
        FakeNcclCall.reduction(
            target(communicator, stream, count, type), "all-reduce", send, receive, op, -1),
        member);
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
    Member member = member(communicator);
    return call(
        "ncclReduce",
        FakeNcclCall.reduction(
            target(communicator, stream, count, type), "reduce", send, receive, op, root),
        member);
  }

  @Override
  public int broadcast(
      long send, long receive, long count, int type, int root, long communicator, long stream) {
    Member member = member(communicator);
    return call(
        "ncclBroadcast",
        FakeNcclCall.broadcast(target(communicator, stream, count, type), send, receive, root),
        member);
  }

  @Override
  public int allGather(
      long send, long receive, long count, int type, long communicator, long stream) {
    Member member = member(communicator);
    return call(
        "ncclAllGather",
        FakeNcclCall.allGather(target(communicator, stream, count, type), send, receive),
        member);
  }

  @Override
  public int reduceScatter(
      long send, long receive, long count, int type, int op, long communicator, long stream) {
    Member member = member(communicator);
    return call(
        "ncclReduceScatter",
        FakeNcclCall.reduceScatter(target(communicator, stream, count, type), send, receive, op),
        member);
  }

  @Override
  public int allToAll(
      long send, long receive, long count, int type, long communicator, long stream) {
    if (!canAllToAll()) {
      violations.add("ncclAlltoAll is not in this version");
    }
    Member member = member(communicator);
    return call(
        "ncclAlltoAll",
        FakeNcclCall.allToAll(target(communicator, stream, count, type), send, receive),
        member);
  }

  @Override
  public int send(long address, long count, int type, int peer, long communicator, long stream) {
    Member member = member(communicator);
    return call(
        "ncclSend",
        FakeNcclCall.send(target(communicator, stream, count, type), address, peer),
        member);
  }

  @Override
  public int receive(long address, long count, int type, int peer, long communicator, long stream) {
    Member member = member(communicator);
    return call(
        "ncclRecv",
        FakeNcclCall.receive(target(communicator, stream, count, type), address, peer),
        member);
  }

  @Override
  public int preMulSum(ByteBuffer slot, ByteBuffer factor, int type, long communicator) {
    member(communicator);
    int op = ops.getAndIncrement();
    factors.put(op, FakeElements.real(type, factor, 0));
    slot.putInt(0, op);
    return SUCCESS;
  }

  @Override
  public int destroyOp(int op, long communicator) {
    member(communicator);
    if (!factors.containsKey(op)) {
      violations.add("a reduction is destroyed that was not made");
    }
    return SUCCESS;
  }
}

package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.gpu.nccl.Nccl;

/**
 * NCCL for ranks of one JVM over a {@link FakeCuda}, not blocking: with its semantics, and what it
 * would hang or crash on noted as a violation.
 */
public final class FakeNccl implements Nccl {

  private static final int SUCCESS = 0;
  private static final int INVALID_USAGE = 5;
  private static final int REMOTE_ERROR = 6;
  private static final int IN_PROGRESS = 7;
  private static final int FIRST_MADE_OP = 5;

  private final FakeCuda cuda;
  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong handles = new AtomicLong(0x7000);
  private final AtomicInteger ops = new AtomicInteger(FIRST_MADE_OP);
  private final Map<String, Meeting> meetings = new ConcurrentHashMap<>();
  private final Map<Long, Member> members = new ConcurrentHashMap<>();
  private final Map<Integer, Double> factors = new ConcurrentHashMap<>();
  private final Map<Long, Long> registrations = new ConcurrentHashMap<>();
  private final Set<Long> allocated = ConcurrentHashMap.newKeySet();
  private final List<String> violations = new CopyOnWriteArrayList<>();
  private final List<String> calls = new CopyOnWriteArrayList<>();

  @SuppressWarnings("ThreadLocalUsage") // Of this library.
  private final ThreadLocal<List<FakeNcclCall>> grouped = new ThreadLocal<>();

  private volatile int version = 22809;
  private volatile boolean abortsHang;
  private volatile int registrationResult = SUCCESS;

  /** Over a driver, which all ranks share. */
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

  /** A rank's communicator. */
  static final class Member {
    final FakeNcclExchange exchange;
    final int rank;
    final int size;
    final AtomicInteger error = new AtomicInteger(IN_PROGRESS);
    final AtomicInteger collectives = new AtomicInteger();
    volatile boolean gone;
    final AtomicInteger users = new AtomicInteger();

    Member(FakeNcclExchange exchange, int rank, int size) {
      this.exchange = exchange;
      this.rank = rank;
      this.size = size;
    }
  }

  /** What NCCL would not have forgiven. */
  public List<String> violations() {
    return violations;
  }

  /** The names of the functions that were called, in order. */
  public List<String> calls() {
    return calls;
  }

  /** The communicators that are there. */
  public int communicators() {
    return members.size();
  }

  /** The memory that communicators have been told of. */
  public int registrations() {
    return registrations.size();
  }

  /** How many pieces of memory of its own are not freed. */
  public int allocations() {
    return allocated.size();
  }

  /** From now on answers this when told of memory. */
  public void refuseRegistrations(int result) {
    registrationResult = result;
  }

  /** Says that it is another version. */
  public void pretend(int otherVersion) {
    version = otherVersion;
  }

  /** From now on the communicators of a rank report an error. */
  public void injectError(int rank, int code) {
    members.values().stream()
        .filter(each -> each.rank == rank)
        .forEach(each -> each.error.set(code));
  }

  /** From now on an abort does not come back until this is called with false. */
  public synchronized void hangAborts(boolean hang) {
    abortsHang = hang;
    notifyAll();
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
    calls.add("ncclGetUniqueId");
    ByteBuffer.wrap(id).putLong(0, ids.incrementAndGet());
    return SUCCESS;
  }

  @Override
  public int commInit(ByteBuffer slot, int size, int rank, byte[] id, ByteBuffer configuration) {
    calls.add(id.length == UNIQUE_ID_BYTES ? "ncclCommInitRankConfig" : "ncclCommInitRankScalable");
    return join(HexFormat.of().formatHex(id), slot, size, rank);
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
    calls.add("ncclCommSplit");
    Member parent = member(communicator);
    int number = parent.collectives.getAndIncrement();
    Map<Integer, int[]> all = new TreeMap<>();
    // All ranks of the parent are threads of this JVM, and call at about the same time.
    for (ByteBuffer each :
        parent.exchange.all(
            number,
            parent,
            "split",
            ByteBuffer.allocate(12).putInt(0, parent.rank).putInt(4, color).putInt(8, key))) {
      all.put(each.getInt(0), new int[] {each.getInt(4), each.getInt(8)});
    }
    if (color == NO_COLOR) {
      return SUCCESS;
    }
    List<Integer> same = new ArrayList<>(all.keySet());
    same.removeIf(rank -> all.get(rank)[0] != color);
    same.sort((a, b) -> Integer.compare(all.get(a)[1], all.get(b)[1]));
    String meeting =
        "split of " + System.identityHashCode(parent.exchange) + " " + number + " " + color;
    return join(meeting, slot, same.size(), same.indexOf(parent.rank));
  }

  @Override
  public int commShrink(
      long communicator, int[] excluded, ByteBuffer slot, ByteBuffer configuration, int flags) {
    calls.add("ncclCommShrink");
    Member parent = member(communicator);
    List<Integer> remaining = new ArrayList<>();
    for (int rank = 0; rank < parent.size; rank++) {
      int each = rank;
      if (Arrays.stream(excluded).noneMatch(out -> out == each)) {
        remaining.add(rank);
      }
    }
    String meeting =
        "shrink of " + System.identityHashCode(parent.exchange) + Arrays.toString(excluded);
    return join(meeting, slot, remaining.size(), remaining.indexOf(parent.rank));
  }

  @Override
  public int commFinalize(long communicator) {
    member(communicator);
    return SUCCESS;
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
    calls.add("ncclCommAbort");
    Member member = member(communicator);
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
    members.values().stream()
        .filter(each -> each.exchange == member.exchange)
        .forEach(each -> each.error.compareAndSet(SUCCESS, REMOTE_ERROR));
    member.exchange.wake();
    return SUCCESS;
  }

  @Override
  public int asyncError(long communicator) {
    return member(communicator).error.get();
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
    long address = cuda.allocate(bytes);
    allocated.add(address);
    slot.putLong(0, address);
    return SUCCESS;
  }

  @Override
  public int memFree(long address) {
    if (!allocated.remove(address)) {
      violations.add("memory is freed that is not NCCL's");
    }
    cuda.free(address);
    return SUCCESS;
  }

  @Override
  public int groupStart() {
    calls.add("ncclGroupStart");
    grouped.set(new ArrayList<>());
    return SUCCESS;
  }

  @Override
  public int groupEnd() {
    calls.add("ncclGroupEnd");
    List<FakeNcclCall> all = grouped.get();
    grouped.remove();
    // Of what goes into one stream all begin before any waits.
    if (!all.isEmpty()) {
      cuda.enqueue(
          all.get(0).stream(),
          () -> {
            all.forEach(FakeNcclCall::give);
            all.forEach(FakeNcclCall::take);
          });
    }
    return SUCCESS;
  }

  private int call(String name, FakeNcclCall made, Member member) {
    calls.add(name);
    if (member.users.getAndIncrement() != 0) {
      violations.add("two threads use a communicator at the same time");
    }
    List<FakeNcclCall> all = grouped.get();
    if (all == null) {
      violations.add(name + " outside of a group");
    } else {
      all.add(made);
    }
    member.users.decrementAndGet();
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

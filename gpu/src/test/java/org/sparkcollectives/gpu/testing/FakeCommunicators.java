package org.sparkcollectives.gpu.testing;

import static org.sparkcollectives.gpu.testing.FakeNcclResult.INTERNAL_ERROR;
import static org.sparkcollectives.gpu.testing.FakeNcclResult.INVALID_ARGUMENT;
import static org.sparkcollectives.gpu.testing.FakeNcclResult.INVALID_USAGE;
import static org.sparkcollectives.gpu.testing.FakeNcclResult.IN_PROGRESS;
import static org.sparkcollectives.gpu.testing.FakeNcclResult.REMOTE_ERROR;
import static org.sparkcollectives.gpu.testing.FakeNcclResult.SUCCESS;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.gpu.nccl.Nccl;

/**
 * The communicators of the fake of NCCL: their creation from an id, by a split or by a shrink, and
 * their release.
 */
final class FakeCommunicators {

  /**
   * The offsets in {@code ncclConfig_t} of the fields that say whether calls block, and whether
   * communicators share resources.
   */
  private static final int BLOCKING_AT = 16;

  private static final int SPLIT_SHARE_AT = 40;

  private final FakeCuda cuda;
  private final FakeNcclFaults faults;
  private final List<String> violations;
  private final AtomicLong handles = new AtomicLong(0x7000);
  private final Map<String, Bootstrap> bootstraps = new ConcurrentHashMap<>();
  private final Map<String, FakeNcclSplit> splits = new ConcurrentHashMap<>();
  private final Map<Long, FakeCommunicator> all = new ConcurrentHashMap<>();

  /**
   * Creates the object; there is no communicator yet.
   *
   * @param violations receives the calls that would make NCCL hang or crash
   */
  FakeCommunicators(FakeCuda cuda, FakeNcclFaults faults, List<String> violations) {
    this.cuda = cuda;
    this.faults = faults;
    this.violations = violations;
  }

  /** The ranks that create one communicator. */
  private static final class Bootstrap {
    private final FakeCommunicator[] ranks;
    private int joined;

    Bootstrap(int size) {
      this.ranks = new FakeCommunicator[size];
    }

    FakeCommunicator first() {
      return Arrays.stream(ranks).filter(each -> each != null).findFirst().orElseThrow();
    }

    synchronized int awaitAll() {
      while (joined < ranks.length) {
        try {
          wait();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return SUCCESS;
    }
  }

  int count() {
    return all.size();
  }

  /** Returns a communicator by its handle. Records a violation, and throws, if it is gone. */
  FakeCommunicator get(long handle) {
    FakeCommunicator communicator = all.get(handle);
    if (communicator == null) {
      violations.add("a call with a communicator that is gone");
      throw new AssertionError("a call with a communicator that is gone");
    }
    return communicator;
  }

  /** Records a violation if another thread is inside a call for the communicator. */
  void requireUnused(FakeCommunicator communicator, String function) {
    Thread user = communicator.user.get();
    if (user != null && user != Thread.currentThread()) {
      violations.add(function + " while another thread is within a call for the communicator");
    }
  }

  /** Makes the communicators of a rank report an error from now on. */
  void injectError(int rank, int code) {
    all.values().stream().filter(each -> each.rank == rank).forEach(each -> each.error.set(code));
  }

  int asyncError(long handle) {
    FakeCommunicator communicator = get(handle);
    requireUnused(communicator, "ncclCommGetAsyncError");
    faults.applyTo("ncclCommGetAsyncError");
    return communicator.error.get();
  }

  int init(ByteBuffer slot, int size, int rank, byte[] id, ByteBuffer configuration) {
    requireNothingShared(configuration);
    String key = HexFormat.of().formatHex(id);
    int result = join(key, slot, size, rank);
    return result == IN_PROGRESS && configuration.getInt(BLOCKING_AT) == 1
        ? bootstraps.get(key).awaitAll()
        : result;
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
    Bootstrap bootstrap = bootstraps.computeIfAbsent(key, none -> new Bootstrap(size));
    synchronized (bootstrap) {
      FakeNcclExchange exchange =
          bootstrap.joined > 0 ? bootstrap.first().exchange : new FakeNcclExchange();
      if (bootstrap.ranks.length != size || bootstrap.ranks[rank] != null) {
        violations.add("rank " + rank + " of " + size + " joins twice, or with another size");
        return INVALID_USAGE;
      }
      bootstrap.ranks[rank] = new FakeCommunicator(exchange, rank, size);
      bootstrap.joined++;
      slot.putLong(0, add(bootstrap.ranks[rank]));
      if (bootstrap.joined == size) {
        for (FakeCommunicator each : bootstrap.ranks) {
          each.error.compareAndSet(IN_PROGRESS, SUCCESS);
        }
        bootstrap.notifyAll();
      }
      return IN_PROGRESS;
    }
  }

  private long add(FakeCommunicator communicator) {
    long handle = handles.addAndGet(16);
    all.put(handle, communicator);
    return handle;
  }

  int split(long handle, int color, int key, ByteBuffer slot, ByteBuffer configuration) {
    requireNothingShared(configuration);
    FakeCommunicator parent = get(handle);
    faults.applyTo("ncclCommSplit of rank " + parent.rank);
    String call =
        "split of "
            + System.identityHashCode(parent.exchange)
            + " "
            + parent.collectives.getAndIncrement();
    return create(call, parent.size, new FakeNcclSplit.Request(parent, color, key, slot));
  }

  int shrink(long handle, int[] excluded, ByteBuffer slot, ByteBuffer configuration) {
    requireNothingShared(configuration);
    FakeCommunicator parent = get(handle);
    String call =
        "shrink of " + System.identityHashCode(parent.exchange) + Arrays.toString(excluded);
    return create(
        call,
        parent.size - excluded.length,
        new FakeNcclSplit.Request(parent, 0, parent.rank, slot));
  }

  /**
   * Creates communicators from another one. The call is in progress until all ranks have called;
   * the handles are written first, and only then is the result known.
   */
  private int create(String call, int expected, FakeNcclSplit.Request request) {
    FakeCommunicator parent = request.parent();
    requireUnused(parent, call);
    if (!parent.error.compareAndSet(SUCCESS, IN_PROGRESS)) {
      return INVALID_ARGUMENT;
    }
    synchronized (splits) {
      parent.creating = request;
      FakeNcclSplit split = splits.computeIfAbsent(call, none -> new FakeNcclSplit());
      for (FakeNcclSplit.Request each : split.add(request, expected)) {
        if (each.color() != Nccl.NO_COLOR) {
          List<Integer> same = split.ranksOf(each.color());
          join(
              call + " " + each.color(),
              each.slot(),
              same.size(),
              same.indexOf(each.parent().rank));
        }
        each.parent().creating = null;
        each.parent().error.compareAndSet(IN_PROGRESS, SUCCESS);
      }
    }
    return IN_PROGRESS;
  }

  int finish(long handle) {
    FakeCommunicator communicator = get(handle);
    requireUnused(communicator, "ncclCommFinalize");
    return communicator.error.get() == IN_PROGRESS ? INVALID_ARGUMENT : SUCCESS;
  }

  int destroy(long handle) {
    get(handle).gone = true;
    all.remove(handle);
    return SUCCESS;
  }

  /** Releases a communicator. Its peers in the same one get an error. */
  int abort(long handle) {
    FakeCommunicator communicator = get(handle);
    requireUnused(communicator, "ncclCommAbort");
    faults.awaitAborts();
    communicator.gone = true;
    all.remove(handle);
    abandonCreation(communicator);
    all.values().stream()
        .filter(each -> each.exchange == communicator.exchange)
        .forEach(each -> each.error.compareAndSet(SUCCESS, REMOTE_ERROR));
    communicator.exchange.wake();
    return SUCCESS;
  }

  /** Ends the creation of communicators from one that is gone. */
  private void abandonCreation(FakeCommunicator parent) {
    synchronized (splits) {
      FakeNcclSplit.Request creating = parent.creating;
      if (creating == null) {
        return;
      }
      splits.values().forEach(each -> each.withdraw(creating));
      if (creating.color() != Nccl.NO_COLOR) {
        // A communicator that could not be created has a handle, too.
        FakeCommunicator failed = new FakeCommunicator(new FakeNcclExchange(), 0, 1);
        failed.error.set(INTERNAL_ERROR);
        creating.slot().putLong(0, add(failed));
      }
    }
  }
}

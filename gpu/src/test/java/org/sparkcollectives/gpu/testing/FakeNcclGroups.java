package org.sparkcollectives.gpu.testing;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The groups of calls of the fake of NCCL, one per thread: they start together when they end. */
final class FakeNcclGroups {

  private final FakeCuda cuda;

  @SuppressWarnings("ThreadLocalUsage") // Belongs to one library.
  private final ThreadLocal<Group> current = new ThreadLocal<>();

  FakeNcclGroups(FakeCuda cuda) {
    this.cuda = cuda;
  }

  /** The calls of a thread since it began a group. */
  private record Group(List<FakeNcclCall> calls, Set<FakeCommunicator> communicators) {}

  /** Begins a group on this thread. */
  void begin() {
    current.set(new Group(new ArrayList<>(), new HashSet<>()));
  }

  /** Adds a call to this thread's group. Returns false if it has begun none. */
  boolean add(FakeNcclCall call, FakeCommunicator communicator) {
    Group group = current.get();
    if (group == null) {
      return false;
    }
    group.calls().add(call);
    group.communicators().add(communicator);
    communicator.user.set(Thread.currentThread());
    return true;
  }

  /**
   * Ends the group of this thread, and puts its calls into their stream.
   *
   * @param before runs first, while the thread is still inside the group
   */
  void end(Runnable before) {
    Group group = current.get();
    current.remove();
    try {
      before.run();
      List<FakeNcclCall> all = group.calls();
      // All calls of one stream start before any of them waits.
      if (!all.isEmpty()) {
        cuda.enqueue(
            all.get(0).stream(),
            () -> {
              all.forEach(FakeNcclCall::publish);
              all.forEach(FakeNcclCall::collect);
            });
      }
    } finally {
      group.communicators().forEach(each -> each.user.set(null));
    }
  }
}

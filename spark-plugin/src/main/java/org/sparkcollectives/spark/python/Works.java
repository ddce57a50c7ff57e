package org.sparkcollectives.spark.python;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Work;

/** The operations that Python workers of a task have begun and not seen the end of. Thread-safe. */
final class Works {

  private static final int NOBODY = -1;

  private final Map<Long, Kept> works = new ConcurrentHashMap<>();
  private final AtomicLong next = new AtomicLong(1);

  /** A work of a group, or no more than how it ended. */
  private static final class Kept {

    private final int group;
    private volatile Work work;
    private int source;
    private RuntimeException failure;

    private Kept(int group, Work work) {
      this.group = group;
      this.work = work;
    }

    private boolean isCompleted() {
      Work known = work;
      return known == null || known.isCompleted();
    }

    /** Returns false if it is not done within the time. */
    private boolean await(Duration atMost) {
      Work known = work;
      return known == null || known.await(atMost);
    }

    /** Returns the source once it is done, or throws what it failed with. */
    private int end() {
      Work known = work;
      if (known != null) {
        known.await();
        return source(known);
      }
      if (failure != null) {
        throw failure;
      }
      return source;
    }

    /** Lets go of the work once it is done. */
    private void release() {
      Work known = work;
      if (known != null) {
        known.result().whenComplete((result, none) -> forget(known));
      }
    }

    private void forget(Work done) {
      try {
        done.await();
        source = source(done);
      } catch (RuntimeException e) {
        failure = e;
      }
      work = null;
    }
  }

  /** Keeps a work of a group until its end is asked for; gives its number. */
  long keep(int group, Work work) {
    long id = next.getAndIncrement();
    works.put(id, new Kept(group, work));
    return id;
  }

  /** Keeps of the works of a group, which is closed, only how they ended. */
  void release(int group) {
    works.values().stream().filter(each -> each.group == group).forEach(Kept::release);
  }

  /** The same of all groups. */
  void releaseAll() {
    works.values().forEach(Kept::release);
  }

  private Kept get(long id) {
    Kept work = works.get(id);
    if (work == null) {
      throw new IllegalArgumentException(
          "There is no work " + id + "; its end was told already, or its task has ended");
    }
    return work;
  }

  /**
   * Waits for the end of a work, and says it once.
   *
   * @param atMost null for as long as the operation may take
   */
  void await(long id, Duration atMost, Reply reply) {
    Kept work = get(id);
    if (atMost != null && !work.await(atMost)) {
      reply.begin(Reply.PENDING);
      return;
    }
    tell(id, work, reply);
  }

  /** Says whether a work has ended, and if so how, once. */
  void test(long id, Reply reply) {
    Kept work = get(id);
    if (work.isCompleted()) {
      tell(id, work, reply);
    } else {
      reply.begin(Reply.PENDING);
    }
  }

  private void tell(long id, Kept work, Reply reply) {
    works.remove(id);
    int source = work.end();
    reply.begin(Reply.DONE).put(source);
  }

  /** The rank that a message came from; -1 of other operations. */
  static int source(Work work) {
    boolean received = work.opType() == OpType.RECV || work.opType() == OpType.RECV_ANY;
    return received ? work.sourceRank() : NOBODY;
  }
}

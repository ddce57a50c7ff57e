package org.sparkcollectives.spark.internal.python;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Work;

/**
 * The operations that Python workers of a task have started, and whose ends they have not seen.
 * Thread-safe.
 */
final class Works {

  private static final int NOBODY = -1;

  private final Map<Long, Kept> works = new ConcurrentHashMap<>();
  private final AtomicLong next = new AtomicLong(1);

  /** A work of a group, or only its end. */
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

    /** Waits for the work. Returns false if it is not done within the time. */
    private boolean await(Duration atMost) {
      Work known = work;
      return known == null || known.await(atMost);
    }

    /** Returns the source once the work is done, or throws its failure. */
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

    /** Releases the work once it is done, and keeps its end. */
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

  /** Keeps a work of a group until its end is queried, and returns its number. */
  long keep(int group, Work work) {
    long id = next.getAndIncrement();
    works.put(id, new Kept(group, work));
    return id;
  }

  /** Releases the works of a closed group, and keeps only their ends. */
  void release(int group) {
    works.values().stream().filter(each -> each.group == group).forEach(Kept::release);
  }

  /** Releases the works of all groups, and keeps only their ends. */
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
   * Waits for the end of a work, and reports it once.
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

  /** Reports whether a work has ended, and if so its end, once. */
  void test(long id, Reply reply) {
    Kept work = get(id);
    if (work.isCompleted()) {
      tell(id, work, reply);
    } else {
      reply.begin(Reply.PENDING);
    }
  }

  /** Reports whether a work has ended, and leaves its end to be told to who asks for that. */
  void look(long id, Reply reply) {
    Kept work = works.get(id);
    reply.begin(work == null || work.isCompleted() ? Reply.DONE : Reply.PENDING);
  }

  private void tell(long id, Kept work, Reply reply) {
    int source;
    try {
      source = work.end();
    } finally {
      // Not before: a work that is not there counts as one that has ended.
      works.remove(id);
    }
    reply.begin(Reply.DONE).put(source);
  }

  /** Returns the rank that a message came from, or -1 for other operations. */
  static int source(Work work) {
    boolean received = work.opType() == OpType.RECV || work.opType() == OpType.RECV_ANY;
    return received ? work.sourceRank() : NOBODY;
  }
}

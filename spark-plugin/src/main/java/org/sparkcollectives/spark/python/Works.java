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

  private final Map<Long, Work> works = new ConcurrentHashMap<>();
  private final AtomicLong next = new AtomicLong(1);

  /** Keeps it until its end is asked for; gives its number. */
  long keep(Work work) {
    long id = next.getAndIncrement();
    works.put(id, work);
    return id;
  }

  private Work get(long id) {
    Work work = works.get(id);
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
    Work work = get(id);
    if (atMost != null && !work.await(atMost)) {
      reply.begin(Reply.PENDING);
      return;
    }
    tell(id, work, reply);
  }

  /** Says whether a work has ended, and if so how, once. */
  void test(long id, Reply reply) {
    Work work = get(id);
    if (work.isCompleted()) {
      tell(id, work, reply);
    } else {
      reply.begin(Reply.PENDING);
    }
  }

  private void tell(long id, Work work, Reply reply) {
    works.remove(id);
    work.await();
    reply.begin(Reply.DONE).put(source(work));
  }

  /** The rank that a message came from; -1 of other operations. */
  static int source(Work work) {
    boolean received = work.opType() == OpType.RECV || work.opType() == OpType.RECV_ANY;
    return received ? work.sourceRank() : NOBODY;
  }
}

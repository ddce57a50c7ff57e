package org.sparkcollectives.internal.liveness;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Elects which of a group's ranks in one JVM sends the JVM's heartbeats: the first that is still
 * there. So heartbeats cost the store the same, however many ranks a JVM has. Thread-safe.
 */
public final class HeartbeatElection {

  private final Deque<Heartbeat> present = new ArrayDeque<>();
  private final AtomicLong beats = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();

  /** Creates the election of a JVM without ranks. */
  public HeartbeatElection() {}

  synchronized void join(Heartbeat rank) {
    present.add(rank);
  }

  /** Takes a rank out, and tells whether it was the last. */
  public synchronized boolean leave(Heartbeat rank) {
    return present.remove(rank) && present.isEmpty();
  }

  /** Returns whether this rank sends the heartbeats. */
  synchronized boolean isElected(Heartbeat rank) {
    return present.peek() == rank;
  }

  /** Returns a number that no heartbeat of this JVM has had. */
  long nextBeat() {
    return beats.incrementAndGet();
  }

  /** Notes that the store has taken a heartbeat. */
  void answered() {
    answered.incrementAndGet();
  }

  /** Returns how many heartbeats the store has taken. */
  long answers() {
    return answered.get();
  }
}

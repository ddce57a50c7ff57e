package org.sparkcollectives.internal.failure;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Decides which of a group's ranks in one JVM sends its heartbeats, for all of them: the first that
 * is still there. So heartbeats cost the store the same, however many ranks a JVM has.
 */
public final class HeartbeatTurn {

  private final Deque<Heartbeat> present = new ArrayDeque<>();
  private final AtomicLong beats = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();

  /** Creates the turn of a JVM without ranks. */
  public HeartbeatTurn() {}

  synchronized void join(Heartbeat rank) {
    present.add(rank);
  }

  /** Takes a rank out, and tells whether it was the last. */
  synchronized boolean leave(Heartbeat rank) {
    return present.remove(rank) && present.isEmpty();
  }

  synchronized boolean isTurnOf(Heartbeat rank) {
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

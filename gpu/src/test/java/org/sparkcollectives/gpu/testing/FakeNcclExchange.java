package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/** The data that the ranks of one communicator exchange. */
final class FakeNcclExchange {

  private final Map<Integer, Map<Integer, ByteBuffer>> collectives = new HashMap<>();
  private final Map<Integer, Integer> collected = new HashMap<>();
  private final Map<Integer, String> names = new HashMap<>();
  private final Map<List<Integer>, Queue<ByteBuffer>> messages = new HashMap<>();

  /** Publishes a rank's part of a collective. */
  synchronized void publish(int number, FakeCommunicator from, String what, ByteBuffer part) {
    String other = names.putIfAbsent(number, what);
    if (other != null && !other.equals(what)) {
      throw new AssertionError("rank " + from.rank + " calls " + what + ", another " + other);
    }
    collectives.computeIfAbsent(number, none -> new HashMap<>()).put(from.rank, part);
    notifyAll();
  }

  /**
   * Waits for all parts, and returns them in the order of the ranks; null if this rank's
   * communicator is aborted.
   */
  synchronized List<ByteBuffer> collect(int number, FakeCommunicator by) {
    while (collectives.getOrDefault(number, Map.of()).size() < by.size) {
      if (!waitFor(by)) {
        return null;
      }
    }
    List<ByteBuffer> all = new ArrayList<>();
    for (int rank = 0; rank < by.size; rank++) {
      all.add(collectives.get(number).get(rank));
    }
    if (collected.merge(number, 1, Integer::sum) == by.size) {
      collectives.remove(number);
      collected.remove(number);
      names.remove(number);
    }
    return all;
  }

  synchronized void send(int from, int to, ByteBuffer message) {
    messages.computeIfAbsent(List.of(from, to), none -> new ArrayDeque<>()).add(message);
    notifyAll();
  }

  /** Waits for a message; returns null if this rank's communicator is aborted. */
  synchronized ByteBuffer receive(int from, FakeCommunicator by) {
    Queue<ByteBuffer> queue =
        messages.computeIfAbsent(List.of(from, by.rank), none -> new ArrayDeque<>());
    while (queue.isEmpty()) {
      if (!waitFor(by)) {
        return null;
      }
    }
    return queue.poll();
  }

  @SuppressWarnings("WaitNotInLoop") // The callers check again.
  private boolean waitFor(FakeCommunicator by) {
    if (by.gone) {
      return false;
    }
    try {
      wait();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return true;
  }

  /** Wakes all waiting ranks, because one has aborted. */
  synchronized void wake() {
    notifyAll();
  }
}

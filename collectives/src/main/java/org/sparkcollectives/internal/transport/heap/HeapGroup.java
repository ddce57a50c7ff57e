package org.sparkcollectives.internal.transport.heap;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.Progress;

/**
 * The state that the ranks of one group in one JVM share: the mailboxes between them, and their
 * wake-ups.
 */
public final class HeapGroup {

  private record Edge(int from, int to) {}

  private final ConcurrentMap<Edge, HeapMailbox> mailboxes = new ConcurrentHashMap<>();
  private final AtomicReference<HeapPhases> phases = new AtomicReference<>();
  private final ConcurrentMap<Integer, Progress> ranks = new ConcurrentHashMap<>();
  private final ConcurrentMap<Integer, IntFunction<ConnectionListener>> listeners =
      new ConcurrentHashMap<>();

  /** Adds a rank, which waits in {@code progress}. */
  public void join(int rank, Progress progress) {
    ranks.put(rank, progress);
  }

  /** Registers the listener of each peer's departure. */
  public void listen(int rank, IntFunction<ConnectionListener> peers) {
    listeners.put(rank, peers);
  }

  /** Reports that a rank has closed its group in good order, after this collective. */
  public void leave(int rank, long lastCollective) {
    listeners.remove(rank);
    listeners.forEach((peer, peers) -> peers.apply(rank).finished(lastCollective));
  }

  /** Returns what ranks that are all here share; made by the first to ask. */
  HeapPhases phases(int size) {
    phases.compareAndSet(null, new HeapPhases(size));
    return phases.get();
  }

  HeapMailbox mailbox(int from, int to) {
    return mailboxes.computeIfAbsent(new Edge(from, to), edge -> new HeapMailbox());
  }

  /**
   * Wakes a rank, if it is here already: one that comes later looks before it waits.
   *
   * @return whether it had parked
   */
  boolean signal(int rank) {
    Progress progress = ranks.get(rank);
    return progress != null && progress.signal();
  }
}

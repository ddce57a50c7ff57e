package org.sparkcollectives.internal.engine;

import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.tcp.StreamPairs;

/** The peers of one rank over a stripe beside the first: all of them over TCP. */
final class StripeCommunicator implements Peers {

  private final int rank;
  private final int size;
  private final StreamPairs pairs;
  private final Waiter waiter;

  StripeCommunicator(int rank, int size, StreamPairs pairs, Waiter waiter) {
    this.rank = rank;
    this.size = size;
    this.pairs = pairs;
    this.waiter = waiter;
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Pair pair(int peer) {
    return pairs.pair(peer);
  }

  @Override
  public void flush() {
    waiter.progress().flush();
  }

  /** Ends what the current operation has begun, after it failed. */
  void abandon() {
    waiter.progress().abandon();
  }
}

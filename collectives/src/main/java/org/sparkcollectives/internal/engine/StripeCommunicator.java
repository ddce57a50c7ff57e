package org.sparkcollectives.internal.engine;

import java.util.Optional;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.RackOrder;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.internal.transport.tcp.StreamPairs;

/** The peers of one rank over a stripe beside the first: all of them over TCP. */
final class StripeCommunicator implements Peers {

  private final int rank;
  private final int size;
  private final StreamPairs pairs;
  private final Waiter waiter;
  private final GroupTransports transports;
  private final Optional<RackOrder> rackOrder;

  StripeCommunicator(int rank, GroupTransports transports, StreamPairs pairs, Waiter waiter) {
    this.rank = rank;
    this.size = transports.size();
    this.transports = transports;
    this.rackOrder =
        transports.racks().map(racks -> new RackOrder(this, racks, transports.machines()));
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
  public Reach reach() {
    return transports.racks().isPresent() ? Reach.RACKS : Reach.NETWORK;
  }

  @Override
  public Optional<Locality> racks() {
    return transports.racks();
  }

  @Override
  public Optional<RackOrder> rackOrder() {
    return rackOrder;
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

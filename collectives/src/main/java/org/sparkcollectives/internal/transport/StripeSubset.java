package org.sparkcollectives.internal.transport;

/** The stripes of a group as some of its ranks see them. */
final class StripeSubset implements Stripes {

  private final Stripes all;
  private final Peers[] peers;

  /**
   * Creates the stripes of ranks that see each other as {@code first} over the first stripe.
   *
   * @param ranks as {@code all} number them
   */
  StripeSubset(Stripes all, Peers first, int[] ranks) {
    this.all = all;
    this.peers = new Peers[all.size()];
    peers[0] = first;
    for (int i = 1; i < peers.length; i++) {
      peers[i] = PeerSubset.striped(all.peers(i), ranks, first);
    }
  }

  @Override
  public int size() {
    return peers.length;
  }

  @Override
  public Peers peers(int index) {
    return peers[index];
  }

  @Override
  public int count(long bytes) {
    return all.count(bytes);
  }

  @Override
  public void run(int count, Part part) {
    all.run(count, (index, wider) -> part.run(index, peers[index]));
  }
}

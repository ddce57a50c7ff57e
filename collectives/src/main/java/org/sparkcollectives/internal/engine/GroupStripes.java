package org.sparkcollectives.internal.engine;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.Stripes;

/**
 * The stripes of one rank in one group: the communicator of all its collectives, and further ones.
 */
final class GroupStripes implements Stripes {

  private final Peers first;
  private final StripeCommunicator[] further;
  private final long smallestBytes;
  private final StripeThreads threads;

  /**
   * Creates the stripes of existing communicators.
   *
   * @param smallestBytes what each stripe must at least get of an operation
   */
  GroupStripes(
      Peers first, StripeCommunicator[] further, long smallestBytes, StripeThreads threads) {
    this.first = first;
    this.further = further;
    this.smallestBytes = smallestBytes;
    this.threads = threads;
  }

  @Override
  public int size() {
    return 1 + further.length;
  }

  @Override
  public Peers peers(int index) {
    return index == 0 ? first : further[index - 1];
  }

  @Override
  public int count(long bytes) {
    return (int) Math.max(1, Math.min(size(), bytes / smallestBytes));
  }

  @Override
  public void run(int count, Part part) {
    threads.run(count, index -> runPart(index, part));
  }

  private void runPart(int index, Part part) {
    if (index == 0) {
      part.run(index, first);
      return;
    }
    StripeCommunicator communicator = further[index - 1];
    boolean done = false;
    try {
      part.run(index, communicator);
      // No later call sends what is still buffered.
      communicator.flush();
      done = true;
    } finally {
      if (!done) {
        communicator.abandon();
      }
    }
  }
}

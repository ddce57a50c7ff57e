package org.sparkcollectives.internal.pointtopoint;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Matches the messages that arrive for one rank of a group with its receives.
 *
 * <p>As in MPI there are two lists, posted receives and unexpected messages, each in order of
 * arrival. A newcomer is matched with the first on the other list that fits. Messages of the same
 * sender and tag therefore keep their order, and those of different tags may overtake each other.
 * An unexpected message is only an offer of a few bytes, so the list costs little however large the
 * messages are.
 *
 * <p>May be used by any number of threads; messages are copied outside the lock.
 */
public final class MessageMatcher {

  private final int rank;
  private final List<PostedReceive> receives = new ArrayList<>();
  private final List<OfferedMessage> offers = new ArrayList<>();
  private boolean closed;

  /** Creates the matcher of a group rank. */
  public MessageMatcher(int rank) {
    this.rank = rank;
  }

  /** Adds a receive, or matches it with a message. */
  public void post(PostedReceive receive) {
    OfferedMessage offer;
    synchronized (this) {
      offer = takeFirst(offers, receive::takes);
      // One that has ended before it came here would stay: its end has found nothing to withdraw.
      if (offer == null && !closed && !receive.hasEnded()) {
        receives.add(receive);
      }
    }
    if (offer != null) {
      receive.meet(offer, rank);
    }
  }

  /** Withdraws a receive that no message has matched; returns false if it is not here any more. */
  public synchronized boolean withdraw(PostedReceive receive) {
    return receives.remove(receive);
  }

  /** Adds a message that has arrived, or matches it with a receive. */
  void offer(OfferedMessage message) {
    PostedReceive receive;
    synchronized (this) {
      receive = takeFirst(receives, posted -> posted.takes(message));
      if (receive == null && !closed) {
        offers.add(message);
      }
    }
    if (receive != null) {
      receive.meet(message, rank);
    }
  }

  /** Removes the offers of a peer whose path has broken. */
  synchronized void forget(int source) {
    offers.removeIf(offer -> offer.source() == source);
  }

  /**
   * Forgets all messages and receives, and those that come later. Nobody is told here: whether a
   * rank has left in good order or because of a failure is known elsewhere, and its peers learn it
   * from there.
   */
  public synchronized void close() {
    closed = true;
    offers.clear();
    receives.clear();
  }

  private static <T> T takeFirst(List<T> list, java.util.function.Predicate<T> fits) {
    for (Iterator<T> each = list.iterator(); each.hasNext(); ) {
      T candidate = each.next();
      if (fits.test(candidate)) {
        each.remove();
        return candidate;
      }
    }
    return null;
  }
}

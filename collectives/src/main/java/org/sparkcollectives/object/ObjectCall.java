package org.sparkcollectives.object;

import java.time.Duration;
import org.sparkcollectives.Backend;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * A call of this rank, which consists of several operations of the group. They share one deadline,
 * the group's timeout from the beginning of the call; so how long a rank may wait for its turn does
 * not depend on how many are before it.
 */
final class ObjectCall {

  /** Of messages that belong to a collective; users' tags are not negative. */
  private static final int COLLECTIVE_TAG = -1;

  private static final Duration SHORTEST = Duration.ofMillis(1);

  private final ProcessGroup group;
  private final Backend messages;
  private final long start = System.nanoTime();

  /** Begins the call, in {@code group}, whose messages {@code messages} carries out. */
  ObjectCall(ProcessGroup group, Backend messages) {
    this.group = group;
    this.messages = messages;
  }

  /** The group, for an operation that ends with the call's deadline. */
  ProcessGroup group() {
    return group.withTimeout(timeLeft());
  }

  /** Begins to send a frame to a rank that knows from the collective that it comes. */
  Work send(Tensor frame, int destination) {
    return messages.send(frame, destination, COLLECTIVE_TAG, timeLeft());
  }

  /** Begins to receive a frame that {@link #send} sends. */
  Work recv(Tensor frame, int source) {
    return messages.recv(frame, source, COLLECTIVE_TAG, timeLeft());
  }

  /** Some time even if there is none: the operation then fails, and tells the others. */
  private Duration timeLeft() {
    Duration left = group.timeout().minusNanos(System.nanoTime() - start);
    return left.compareTo(SHORTEST) > 0 ? left : SHORTEST;
  }
}

package org.sparkcollectives.internal.object;

import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.store.Deadline;

/**
 * A call of this rank that consists of several operations of the group. They share one deadline,
 * the group's timeout from the beginning of the call, so the time that a rank may wait for its turn
 * does not depend on how many ranks are before it.
 */
final class ObjectCall {

  /** The tag of messages that belong to a collective; users' tags are not negative. */
  private static final int COLLECTIVE_TAG = -1;

  private final ProcessGroup group;
  private final Backend messages;
  private final Deadline deadline;

  /**
   * Creates a call that begins now, in {@code group}, whose messages {@code messages} carries out.
   */
  ObjectCall(ProcessGroup group, Backend messages) {
    this.group = group;
    this.messages = messages;
    this.deadline = Deadline.after(group.timeout());
  }

  /** Returns the group, for an operation that ends with the call's deadline. */
  ProcessGroup group() {
    return group.withTimeout(deadline.left());
  }

  /** Begins to send a frame to a rank that expects it as part of the collective. */
  Work send(Tensor frame, int destination) {
    return messages.send(frame, destination, COLLECTIVE_TAG, deadline.left());
  }

  /** Begins to receive a frame that {@link #send} sends. */
  Work recv(Tensor frame, int source) {
    return messages.recv(frame, source, COLLECTIVE_TAG, deadline.left());
  }
}

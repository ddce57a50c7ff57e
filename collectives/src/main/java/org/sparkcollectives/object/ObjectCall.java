package org.sparkcollectives.object;

import org.sparkcollectives.Backend;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.store.Deadline;

/**
 * A call of this rank, which consists of several operations of the group. They share one deadline,
 * the group's timeout from the beginning of the call; so how long a rank may wait for its turn does
 * not depend on how many are before it.
 */
final class ObjectCall {

  /** Of messages that belong to a collective; users' tags are not negative. */
  private static final int COLLECTIVE_TAG = -1;

  private final ProcessGroup group;
  private final Backend messages;
  private final Deadline deadline;

  /** Begins the call, in {@code group}, whose messages {@code messages} carries out. */
  ObjectCall(ProcessGroup group, Backend messages) {
    this.group = group;
    this.messages = messages;
    this.deadline = Deadline.after(group.timeout());
  }

  /** The group, for an operation that ends with the call's deadline. */
  ProcessGroup group() {
    return group.withTimeout(deadline.left());
  }

  /** Begins to send a frame to a rank that knows from the collective that it comes. */
  Work send(Tensor frame, int destination) {
    return messages.send(frame, destination, COLLECTIVE_TAG, deadline.left());
  }

  /** Begins to receive a frame that {@link #send} sends. */
  Work recv(Tensor frame, int source) {
    return messages.recv(frame, source, COLLECTIVE_TAG, deadline.left());
  }
}

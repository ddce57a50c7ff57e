package org.sparkcollectives.internal.transport;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A path for the messages of one group's collectives between this rank and one peer.
 *
 * <p>Messages arrive in the order in which they were sent, one {@code receive} for each {@code
 * send}, of the same type and count: whatever does not fit is refused with a {@link
 * org.sparkcollectives.CollectiveMismatchException} that names both sides, and nothing is written.
 *
 * <p>Only the thread that runs the group's current operation may use a pair. All calls throw what
 * {@link Cancellation#check} throws once the group has failed.
 */
public interface Pair {

  /** Returns the peer's group rank. */
  int peer();

  /**
   * Begins to send a message and returns. The tensor must keep its value until the send is done,
   * which it is when {@link Peers#flush()} has returned, or earlier where the algorithm can know
   * (the peer answered). The bytes move on while this thread waits in any call of the same {@link
   * Peers}. A second send to the same peer waits for the first.
   */
  void send(HostTensor tensor);

  /**
   * As {@link #send}, but returns while one message to the same peer is still on its way: this one
   * follows it. Waits for the first of two.
   */
  void queue(HostTensor tensor);

  /** Returns whether something of the peer's next message is here. Does not block. */
  boolean hasMessage();

  /** Waits for the next message and writes it to {@code tensor}. */
  void receive(HostTensor tensor);

  /**
   * Waits for the next message, which has the kernel's input type, and reduces it into {@code
   * accumulator}, which has the kernel's accumulator type and the message's count.
   */
  void receiveAndReduce(HostTensor accumulator, ReduceKernel kernel);
}

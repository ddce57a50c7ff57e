package org.sparkcollectives.internal.transport.heap;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.store.Backoff;
import org.sparkcollectives.store.Deadline;

/**
 * The mailbox from one rank to another rank of the same JVM: it holds one message at a time, by
 * reference.
 *
 * <p>The receiver reads the sender's tensor where it lies, so the two must agree on when it may:
 * the receiver <em>takes</em> the message before it reads, and <em>releases</em> it afterwards; the
 * sender may retract a message until then. Who has read from a message that was retracted meanwhile
 * learns that when he releases it, and fails: the sender may have written to its tensor. A tensor
 * outside of the heap, whose memory its user may also unmap, is waited for until it is not read any
 * more. Nobody ever writes to another rank's tensor.
 */
final class HeapMailbox {

  private static final int OFFERED = 0;
  private static final int TAKEN = 1;
  private static final int RELEASED = 2;
  private static final int REFUSED = 3;
  private static final int RETRACTED = 4;
  private static final int RETRACTED_WHILE_READ = 5;

  /**
   * The time for which a sender that abandons a message waits for a reader of memory outside of the
   * heap.
   */
  private static final Duration LONGEST_READ = Duration.ofSeconds(10);

  private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private final AtomicReference<Message> slot = new AtomicReference<>();

  /** Offers a message. The one before has been released. */
  Message offer(OperationHeader header, HostTensor tensor) {
    Message message = new Message(header, tensor);
    slot.set(message);
    return message;
  }

  /** Returns whether a message is there to be taken. */
  boolean hasMessage() {
    return slot.get() != null;
  }

  /** Takes the message; null if there is none, or its sender has retracted it. */
  Message take() {
    Message message = slot.get();
    if (message == null || !message.state.compareAndSet(OFFERED, TAKEN)) {
      return null;
    }
    return message;
  }

  private void clear(Message message) {
    slot.compareAndSet(message, null);
  }

  /** A message on its way. */
  final class Message {
    private final OperationHeader header;
    private final HostTensor tensor;
    private final AtomicInteger state = new AtomicInteger(OFFERED);
    private CollectiveMismatchException refusal;

    private Message(OperationHeader header, HostTensor tensor) {
      this.header = header;
      this.tensor = tensor;
    }

    OperationHeader header() {
      return header;
    }

    /** Returns the sender's tensor; to be read between take and release. */
    HostTensor tensor() {
      return tensor;
    }

    /**
     * Publishes that the receiver does not read any more.
     *
     * @return whether the tensor was the sender's message all the time
     */
    boolean release() {
      clear(this);
      // What was read is read before the look at the state.
      VarHandle.acquireFence();
      if (state.compareAndSet(TAKEN, RELEASED)) {
        return true;
      }
      state.set(RETRACTED);
      return false;
    }

    /** Publishes that the receiver has refused the message. */
    void refuse(CollectiveMismatchException why) {
      refusal = why;
      clear(this);
      state.set(REFUSED);
    }

    /** Returns whether the receiver is done with it. */
    boolean isReleased() {
      return state.get() == RELEASED;
    }

    /** Why it was refused, or null. */
    CollectiveMismatchException refusal() {
      return state.get() == REFUSED ? refusal : null;
    }

    /**
     * The sender takes it back: who reads it still will fail. Waits until a tensor outside of the
     * heap is not read any more, for ten seconds at the most.
     */
    void retract() {
      if (state.compareAndSet(OFFERED, RETRACTED)) {
        clear(this);
        return;
      }
      state.compareAndSet(TAKEN, RETRACTED_WHILE_READ);
      if (tensor.array() == null) {
        Backoff.every(LOOK_NANOS)
            .until(() -> state.get() != RETRACTED_WHILE_READ, Deadline.after(LONGEST_READ));
      }
    }
  }
}

package org.sparkcollectives.transport.heap;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.OperationHeader;

/**
 * Where a rank puts the message that it has for another rank of the same JVM: one at a time, by
 * reference.
 *
 * <p>The receiver works straight on the sender's tensor, so the two must agree on when it may: the
 * receiver <em>takes</em> the message before it reads, and <em>releases</em> it afterwards; the
 * sender may retract a message that was not taken, and waits for the release of one that was.
 * Reading is a copy or a reduction, never a wait, so that wait is short. A receiver that gives up
 * before it takes leaves the message for the sender to retract. Thus neither can end with the other
 * still in its memory, whatever fails when, and nobody ever writes to another rank's tensor.
 */
final class HeapMailbox {

  private static final int OFFERED = 0;
  private static final int TAKEN = 1;
  private static final int RELEASED = 2;
  private static final int REFUSED = 3;
  private static final int RETRACTED = 4;

  private final AtomicReference<Message> slot = new AtomicReference<>();

  /** Offers a message. The one before has been released. */
  Message offer(OperationHeader header, HostTensor tensor) {
    Message message = new Message(header, tensor);
    slot.set(message);
    return message;
  }

  /** Whether a message is there to be taken. */
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
    private String refusal;

    private Message(OperationHeader header, HostTensor tensor) {
      this.header = header;
      this.tensor = tensor;
    }

    OperationHeader header() {
      return header;
    }

    /** The sender's tensor; to be read between take and release. */
    HostTensor tensor() {
      return tensor;
    }

    /** The receiver does not read any more. */
    void release() {
      clear(this);
      state.set(RELEASED);
    }

    /** The receiver did not want it. */
    void refuse(String why) {
      refusal = why;
      clear(this);
      state.set(REFUSED);
    }

    /** Whether the receiver is done with it. */
    boolean isReleased() {
      return state.get() == RELEASED;
    }

    /** Why it was refused, or null. */
    String refusal() {
      return state.get() == REFUSED ? refusal : null;
    }

    /** The sender takes it back; when this returns, nobody reads the tensor any more. */
    void retract() {
      if (state.compareAndSet(OFFERED, RETRACTED)) {
        clear(this);
        return;
      }
      while (state.get() == TAKEN) {
        Thread.yield();
      }
    }
  }
}

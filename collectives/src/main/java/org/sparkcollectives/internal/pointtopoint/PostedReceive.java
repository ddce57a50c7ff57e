package org.sparkcollectives.internal.pointtopoint;

import java.nio.ByteBuffer;
import java.util.List;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.OpType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A receive that a rank has called and that no message has completed yet.
 *
 * <p>The thread that brings the message writes through this object, whose lock makes {@link
 * #cancel} final: once that has returned, the user owns the tensor again, and nothing is written
 * any more.
 */
public final class PostedReceive {

  /** The source of a receive from any rank. */
  public static final int ANY_SOURCE = -1;

  /** Receives the progress of a receive. Must not block. */
  public interface Listener {

    /** Notes that a message was matched and is on its way. */
    void matched(int source);

    /** Notes that the tensor holds the message. */
    void received();

    /** Notes that the receive failed; the tensor may hold a part of the message. */
    void failed(Throwable cause);
  }

  private final int source;
  private final int tag;
  private final HostTensor tensor;
  private final Listener listener;
  private boolean ended;
  private long written;

  /** Creates a receive from a source or {@link #ANY_SOURCE}, with a tag, into a tensor. */
  public PostedReceive(int source, int tag, HostTensor tensor, Listener listener) {
    this.source = source;
    this.tag = tag;
    this.tensor = tensor;
    this.listener = listener;
  }

  boolean takes(OfferedMessage message) {
    return tag == message.tag() && (source == ANY_SOURCE || source == message.source());
  }

  /** Accepts the message if it fits, or fails both sides. */
  void meet(OfferedMessage message, int self) {
    if (message.dtype() == tensor.dtype() && message.count() == tensor.count()) {
      listener.matched(message.source());
      message.accept(this);
      return;
    }
    String text =
        "Rank "
            + message.source()
            + " sends "
            + message.dtype().label()
            + " x "
            + message.count()
            + " with tag "
            + tag
            + ", but rank "
            + self
            + " receives "
            + tensor.dtype().label()
            + " x "
            + tensor.count()
            + "; nothing was moved";
    CollectiveMismatchException mismatch =
        new CollectiveMismatchException(
            text,
            List.of(
                call(message.source(), OpType.SEND, message.dtype(), message.count()),
                call(
                    self,
                    source == ANY_SOURCE ? OpType.RECV_ANY : OpType.RECV,
                    tensor.dtype(),
                    tensor.count())));
    message.refuse(mismatch);
    fail(mismatch);
  }

  private static CollectiveCall call(int rank, OpType operation, DType dtype, long count) {
    return new CollectiveCall(
        rank,
        operation,
        -1,
        new CollectiveCall.Tensors(dtype, count, List.of(), Device.Type.CPU),
        null,
        -1);
  }

  /**
   * Writes the next elements of the message; returns false if the receive has ended. It ends with
   * what its tensor throws, which concerns nobody who brings the message.
   */
  boolean write(int count, ByteBuffer source) {
    Throwable thrown;
    synchronized (this) {
      if (ended) {
        return false;
      }
      try {
        tensor.write(written, count, source);
        written += count;
        return true;
      } catch (RuntimeException | Error e) {
        thrown = e;
      }
    }
    fail(thrown);
    return false;
  }

  /**
   * Writes the whole message, unless the receive was cancelled; throws what either tensor throws.
   */
  synchronized void write(HostTensor message) {
    if (!ended) {
      tensor.copyFrom(0, message, 0, tensor.count());
      written = tensor.count();
    }
  }

  /** Ends the receive if all elements have been written; returns whether it has ended. */
  boolean finish() {
    synchronized (this) {
      if (ended) {
        return true;
      }
      if (written < tensor.count()) {
        return false;
      }
      ended = true;
    }
    listener.received();
    return true;
  }

  /** Returns the size of one element in bytes. */
  int elementBytes() {
    return tensor.dtype().bytes();
  }

  /** Ends the receive with a failure, unless it has ended. */
  void fail(Throwable cause) {
    if (cancel()) {
      listener.failed(cause);
    }
  }

  /** Returns whether the receive is over, whatever its outcome. */
  synchronized boolean hasEnded() {
    return ended;
  }

  /** Ends the receive without a call of its listener; returns false if it has ended already. */
  public synchronized boolean cancel() {
    boolean first = !ended;
    ended = true;
    return first;
  }
}

package org.sparkcollectives.internal.pointtopoint;

import java.nio.ByteBuffer;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.DirectTensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A send that a rank has called and that is not done yet.
 *
 * <p>The thread that takes the message reads through this object, whose lock makes {@link #cancel}
 * final: once that has returned, the user owns the tensor again, and nothing is read any more.
 */
public final class PostedSend {

  /** Receives the progress of a send. Must not block. */
  public interface Listener {

    /** Notes that the peer has called a receive that matches, and the elements are being sent. */
    void matched();

    /** Notes that the tensor may be used again. */
    void sent();

    /** Notes that the send failed. */
    void failed(Throwable cause);
  }

  private final int tag;
  private final HostTensor tensor;
  private final Listener listener;
  private boolean ended;

  /** Creates a send of a tensor with a tag. */
  public PostedSend(int tag, HostTensor tensor, Listener listener) {
    this.tag = tag;
    this.tensor = tensor;
    this.listener = listener;
  }

  int tag() {
    return tag;
  }

  DType dtype() {
    return tensor.dtype();
  }

  long count() {
    return tensor.count();
  }

  void matched() {
    listener.matched();
  }

  /**
   * Reads elements of the message into {@code memory}; returns false if the send has ended. It ends
   * with what its tensor throws, which concerns nobody who takes the message.
   */
  boolean read(long offset, int count, ByteBuffer memory) {
    Throwable thrown;
    synchronized (this) {
      if (ended) {
        return false;
      }
      try {
        tensor.read(offset, count, memory);
        return true;
      } catch (RuntimeException | Error e) {
        thrown = e;
      }
    }
    fail(thrown);
    return false;
  }

  /**
   * Copies the whole message to a receive of this JVM, and ends both. If one of the two tensors
   * throws, its rank has failed, and the other side ends with the group.
   */
  void copyTo(PostedReceive receive) {
    Throwable thrown = null;
    synchronized (this) {
      if (ended) {
        return;
      }
      try {
        receive.write(tensor);
      } catch (RuntimeException | Error e) {
        thrown = e;
      }
    }
    if (thrown == null) {
      receive.finish();
      finish();
    } else if (DirectTensor.arose(thrown, tensor)) {
      fail(thrown);
    } else {
      receive.fail(thrown);
    }
  }

  /** Ends the send, all of whose message has been read. */
  void finish() {
    if (cancel()) {
      listener.sent();
    }
  }

  /** Ends the send with a failure, unless it has ended. */
  void fail(Throwable cause) {
    if (cancel()) {
      listener.failed(cause);
    }
  }

  /** Ends the send without a call of its listener; returns false if it has ended already. */
  public synchronized boolean cancel() {
    boolean first = !ended;
    ended = true;
    return first;
  }
}

package org.sparkcollectives.internal.transport.tcp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.ByteSource;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A message on its way out of a {@link ByteSource} into a tensor. Used again and again.
 *
 * <p>Received buffers end where the network had it, also within an element: such a one is put
 * together aside.
 */
final class IncomingMessage implements ByteSource.Reader {

  private static final int LARGEST_ELEMENT = 16;

  private final ByteBuffer headerBytes = ByteBuffer.allocate(MessageHeader.BYTES);
  private final ByteBuffer split =
      ByteBuffer.allocateDirect(LARGEST_ELEMENT).order(ByteOrder.nativeOrder());

  private MessageHeader expected;
  private HostTensor target;
  private ReduceKernel kernel;
  private MessageHeader received;
  private long done;
  private boolean ended;
  private long lastCollective;

  /**
   * Starts over with a new message.
   *
   * @param newKernel reduces the elements into the target; null to write them
   */
  void begin(MessageHeader newExpected, HostTensor newTarget, ReduceKernel newKernel) {
    expected = newExpected;
    target = newTarget;
    kernel = newKernel;
    received = null;
    done = 0;
    headerBytes.clear();
    split.clear();
  }

  /** Returns whether the sender has announced that nothing will come any more. */
  boolean isEnded() {
    return ended;
  }

  /**
   * Returns the number of the last collective that the sender called; once it has announced the
   * end.
   */
  long lastCollective() {
    return lastCollective;
  }

  /** Returns whether the header has come and is another than expected; nothing was written then. */
  boolean isMismatch() {
    return received != null && !received.equals(expected);
  }

  /** Returns whether all elements are where they belong. */
  boolean isComplete() {
    return received != null && done == expected.count();
  }

  /** Returns the header that has come. */
  MessageHeader received() {
    return received;
  }

  /** Returns how far the message has come. */
  String describe() {
    return received == null ? "nothing" : done + " of " + expected.count() + " elements";
  }

  /** Releases the tensor. */
  void end() {
    target = null;
    kernel = null;
  }

  @Override
  public long wanted() {
    if (received == null) {
      return headerBytes.remaining() + expected.payloadBytes();
    }
    return (expected.count() - done) * expected.dtype().bytes() - split.position();
  }

  @Override
  public void read(ByteBuffer bytes) {
    if (received == null && !readHeader(bytes)) {
      return;
    }
    if (ended || isMismatch()) {
      return;
    }
    int width = expected.dtype().bytes();
    if (split.position() > 0) {
      move(bytes, split, width - split.position());
      if (split.position() < width) {
        return;
      }
      take(1, split.flip());
      split.clear();
    }
    int whole = (int) Math.min(expected.count() - done, bytes.remaining() / width);
    if (whole > 0) {
      take(whole, bytes);
    }
    if (done < expected.count()) {
      move(bytes, split, bytes.remaining());
    }
  }

  private boolean readHeader(ByteBuffer bytes) {
    move(bytes, headerBytes, headerBytes.remaining());
    if (headerBytes.hasRemaining()) {
      return false;
    }
    received = MessageHeader.read(headerBytes.flip());
    if (received == null) {
      ended = true;
      lastCollective = MessageHeader.lastCollective(headerBytes);
    }
    return true;
  }

  private void take(int count, ByteBuffer elements) {
    if (kernel == null) {
      target.write(done, count, elements);
    } else {
      kernel.accumulate(target, done, count, elements);
    }
    done += count;
  }

  private static void move(ByteBuffer from, ByteBuffer to, int most) {
    int count = Math.min(from.remaining(), most);
    for (int i = 0; i < count; i++) {
      to.put(from.get());
    }
  }
}

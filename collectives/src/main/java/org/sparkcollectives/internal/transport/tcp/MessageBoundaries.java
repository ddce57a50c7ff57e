package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.sparkcollectives.TransportException;

/**
 * Follows where messages begin and end in a stream of bytes, without looking at their elements, so
 * that the end of the stream can be told from a break even when nobody reads.
 */
final class MessageBoundaries {

  private final ByteBuffer header = ByteBuffer.allocate(MessageHeader.BYTES);
  private long payloadLeft;
  private long messages;
  private boolean ended;
  private long lastCollective;

  /**
   * Follows the next bytes of the stream; their indices stay as they are.
   *
   * @throws TransportException if they cannot be messages
   */
  void follow(ByteBuf bytes) {
    int index = bytes.readerIndex();
    int end = bytes.writerIndex();
    while (index < end) {
      if (payloadLeft > 0) {
        int skipped = (int) Math.min(payloadLeft, end - index);
        payloadLeft -= skipped;
        index += skipped;
      } else {
        int copied = Math.min(header.remaining(), end - index);
        header.limit(header.position() + copied);
        bytes.getBytes(index, header);
        header.limit(header.capacity());
        index += copied;
        if (!header.hasRemaining()) {
          message();
        }
      }
    }
  }

  private void message() {
    if (ended) {
      throw new TransportException("it carried more after its announced end");
    }
    MessageHeader next = MessageHeader.read(header.flip());
    if (next == null) {
      lastCollective = MessageHeader.lastCollective(header);
    }
    header.clear();
    if (next == null) {
      ended = true;
    } else {
      payloadLeft = next.payloadBytes();
      messages++;
    }
  }

  /** Returns whether the sender has announced the end of the stream. */
  boolean ended() {
    return ended;
  }

  /** Returns what the sender has called last; once it has announced the end. */
  long lastCollective() {
    return lastCollective;
  }

  /** Returns where the stream is, as messages have it. */
  String describe() {
    if (payloadLeft > 0) {
      return "in the middle of message " + messages + ", " + payloadLeft + " bytes before its end";
    }
    if (header.position() > 0) {
      return "in the header of message " + (messages + 1);
    }
    return "after " + messages + (messages == 1 ? " whole message" : " whole messages");
  }
}

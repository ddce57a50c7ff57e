package org.sparkcollectives.internal.transport.tcp;

import java.nio.ByteBuffer;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A message on its way into a {@link ByteSink}, in segments of whole elements. Used again and
 * again.
 */
final class OutgoingMessage implements ByteSink.Filler {

  private MessageHeader header;
  private HostTensor tensor;
  private boolean headerSent = true;
  private long sent;

  /** Starts over with a new message. */
  void begin(MessageHeader newHeader, HostTensor newTensor) {
    header = newHeader;
    tensor = newTensor;
    headerSent = false;
    sent = 0;
  }

  /** Returns whether all of the message was handed over. */
  boolean isDone() {
    return headerSent && tensor == null;
  }

  /** Abandons what was not handed over: the tensor is the caller's again. */
  void abandon() {
    headerSent = true;
    tensor = null;
  }

  /**
   * Hands over as much as the sink takes.
   *
   * @return whether it took anything
   */
  boolean advance(ByteSink sink) {
    boolean moved = false;
    while (!isDone() && sink.offer(segmentBytes(), this)) {
      moved = true;
      if (sent == header.count()) {
        tensor = null;
      }
    }
    return moved;
  }

  private int segmentBytes() {
    long left = (header.count() - sent) * header.dtype().bytes();
    return (int) Math.min(ByteSink.SEGMENT_BYTES, headerSent ? left : MessageHeader.BYTES + left);
  }

  @Override
  public void fill(ByteBuffer segment) {
    if (!headerSent) {
      header.write(segment);
    }
    int elements =
        (int) Math.min(header.count() - sent, segment.remaining() / header.dtype().bytes());
    if (elements > 0) {
      tensor.read(sent, elements, segment);
    }
    headerSent = true;
    sent += elements;
  }
}

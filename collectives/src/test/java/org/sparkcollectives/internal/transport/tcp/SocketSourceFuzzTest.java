package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.net.EventLoops;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.FuzzedStream;

/**
 * What a peer can do with whatever it sends on a connection of collectives, to a rank that waits
 * for one message: the tensor gets that message or is left alone, what lies beside it is never
 * touched, and the end of the connection is told once.
 */
class SocketSourceFuzzTest {

  private static final EventLoops LOOPS = EventLoops.openNio("source-fuzz", 1);
  private static final int COUNT = 5;
  private static final byte UNTOUCHED = 0x55;
  private static final MessageHeader EXPECTED = header(3, COUNT);

  static Stream<byte[]> seeds() {
    byte[] payload = new byte[2 * COUNT];
    Arrays.fill(payload, (byte) 9);
    byte[] message = bytes(EXPECTED);
    byte[] other = bytes(header(4, 2));
    byte[] end = MessageHeader.end(3);
    return Stream.of(
        FuzzedStream.seed(0, message, payload, end),
        FuzzedStream.seed(1, message, payload, end),
        FuzzedStream.seed(43, message, payload, other),
        FuzzedStream.seed(0, other, new byte[4], message, payload),
        FuzzedStream.seed(7, end),
        FuzzedStream.seed(0, end, message),
        FuzzedStream.seed(0, message, new byte[3]));
  }

  private static MessageHeader header(long number, long count) {
    return new MessageHeader(
        new OperationHeader(OpType.BROADCAST, number, DType.INT16, count), DType.INT16, count);
  }

  private static byte[] bytes(MessageHeader header) {
    ByteBuffer bytes = ByteBuffer.allocate(MessageHeader.BYTES);
    header.write(bytes);
    return bytes.array();
  }

  @MethodSource("seeds")
  @FuzzTest
  void aTensorGetsTheMessageThatItWaitsForOrIsLeftAlone(byte[] input) throws IOException {
    FuzzedStream stream = new FuzzedStream(input);
    List<String> ends = new CopyOnWriteArrayList<>();
    ByteBuffer memory = ByteBuffer.allocateDirect(6 * COUNT).order(ByteOrder.nativeOrder());
    for (int i = 0; i < memory.capacity(); i++) {
      memory.put(i, UNTOUCHED);
    }
    HostTensor all = HostTensor.wrap(DType.INT16, memory);
    IncomingMessage incoming = new IncomingMessage();
    incoming.begin(EXPECTED, all.slice(COUNT, COUNT), null);

    try (DirectConnection connection = new DirectConnection(LOOPS)) {
      SocketSource source = connection.source(listener(ends));
      for (byte[] piece : stream.pieces()) {
        if (ends.isEmpty()) {
          connection.send(piece);
          read(source, incoming, ends);
        }
      }
      connection.end();
      while (read(source, incoming, ends)) {
        Thread.onSpinWait();
      }
      if (incoming.isEnded()) {
        source.finished(incoming.lastCollective());
      }
      source.close();
    }
    boolean came = incoming.isComplete() || incoming.isMismatch();
    assertThat(ends).hasSize(came ? 0 : 1);
    check(stream.bytes(), memory, incoming.isComplete());
  }

  /** Reads as a rank does that waits; returns whether it still waits. */
  private static boolean read(SocketSource source, IncomingMessage incoming, List<String> ends) {
    boolean read = true;
    while (read && !incoming.isComplete() && !incoming.isMismatch() && !incoming.isEnded()) {
      read = source.read(incoming);
      assertThat(incoming.describe()).isNotBlank();
    }
    return !read && ends.isEmpty();
  }

  private static void check(byte[] stream, ByteBuffer memory, boolean complete) {
    byte[] expected = new byte[memory.capacity()];
    Arrays.fill(expected, UNTOUCHED);
    byte[] head = Arrays.copyOf(stream, MessageHeader.BYTES);
    // Two bytes of a header say nothing.
    Arrays.fill(head, 6, 8, (byte) 0);
    boolean isIt = Arrays.equals(bytes(EXPECTED), head);
    int came = isIt ? Math.min(2 * COUNT, stream.length - MessageHeader.BYTES) : 0;
    byte[] found = new byte[memory.capacity()];
    memory.get(0, found);
    if (complete) {
      assertThat(came).isEqualTo(2 * COUNT);
      System.arraycopy(stream, MessageHeader.BYTES, expected, 2 * COUNT, came);
      assertThat(found).isEqualTo(expected);
    } else {
      // A part of the message may be there.
      System.arraycopy(found, 2 * COUNT, expected, 2 * COUNT, Math.max(0, came));
      assertThat(found).isEqualTo(expected);
    }
  }

  private static ConnectionListener listener(List<String> ends) {
    return new ConnectionListener() {
      @Override
      public void finished(long lastCollective) {
        ends.add("finished after " + lastCollective);
      }

      @Override
      public void broken(Throwable cause) {
        ends.add(cause.getMessage());
      }
    };
  }
}

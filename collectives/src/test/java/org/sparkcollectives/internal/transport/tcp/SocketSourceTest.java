package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.net.EventLoops;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests how a connection is read on the thread that wants its messages. */
@Timeout(120)
class SocketSourceTest {

  private static final int COUNT = 1000;

  private final List<String> events = new CopyOnWriteArrayList<>();
  private final EventLoops loops = EventLoops.openNio("source-test", 1);
  private final byte[] elements = new byte[COUNT];
  private final IncomingMessage incoming = new IncomingMessage();
  private DirectConnection connection;
  private SocketSource source;

  @BeforeEach
  void connect() throws IOException {
    connection = new DirectConnection(loops);
    source =
        connection.source(
            new ConnectionListener() {
              @Override
              public void finished(long lastCollective) {
                events.add("finished after " + lastCollective);
              }

              @Override
              public void broken(Throwable cause) {
                events.add(cause.getMessage());
              }
            });
    incoming.begin(header(), HostTensor.wrap(DType.UINT8, elements), null);
  }

  @AfterEach
  void nothingIsLeft() throws IOException {
    source.close();
    connection.close();
    loops.close();
  }

  private static MessageHeader header() {
    return new MessageHeader(
        new OperationHeader(OpType.BROADCAST, 3, DType.UINT8, COUNT), DType.UINT8, COUNT);
  }

  private static byte[] headerBytes() {
    ByteBuffer bytes = ByteBuffer.allocate(MessageHeader.BYTES);
    header().write(bytes);
    return bytes.array();
  }

  private static byte[] payload(int count) {
    byte[] payload = new byte[count];
    Arrays.fill(payload, (byte) 9);
    return payload;
  }

  /** Reads until the message is complete, or the connection has ended. */
  private void read() {
    while (!incoming.isComplete() && !incoming.isEnded() && events.isEmpty()) {
      if (!source.read(incoming)) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aMessageIsReadAndWhatFollowsItIsLeft() throws IOException {
    connection.send(headerBytes());
    connection.send(payload(COUNT));
    connection.send(MessageHeader.end(5));
    read();
    assertThat(incoming.isComplete()).isTrue();
    assertThat(elements).containsOnly(9);
    incoming.begin(header(), HostTensor.wrap(DType.UINT8, elements), null);
    read();
    assertThat(incoming.isEnded()).isTrue();
    source.finished(incoming.lastCollective());
    assertThat(events).containsExactly("finished after 5");
    assertThat(source.read(incoming)).isFalse();
  }

  @Test
  void aConnectionThatEndsInTheMiddleOfAMessageIsBroken() throws IOException {
    connection.send(headerBytes());
    connection.send(payload(400));
    connection.end();
    read();
    assertThat(events).containsExactly("the connection was lost");
    assertThat(incoming.describe()).isEqualTo("400 of 1000 elements");
    connection.awaitClosed();
  }

  @Test
  void whatIsNoMessageBreaksTheConnection() throws IOException {
    byte[] garbage = new byte[MessageHeader.BYTES];
    Arrays.fill(garbage, (byte) 0x7f);
    connection.send(garbage);
    read();
    assertThat(events).hasSize(1);
    assertThat(events.get(0)).startsWith("it carried ");
    connection.awaitClosed();
  }

  @Test
  void whatTheEventLoopHasReadAfterTheEndOfTheReaderIsReleased() {
    source.close();
    ByteBuf late = Unpooled.directBuffer().writeBytes(headerBytes());
    connection.onLoop(() -> connection.channel().pipeline().fireChannelRead(late));
    assertThat(late.refCnt()).isZero();
    assertThat(source.hasBytes()).isFalse();
  }
}

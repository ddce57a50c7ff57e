package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.OperationHeader;

/** What a connection receives, between the event loop and the rank's thread. */
class NettySourceTest {

  private static final int PIECE = 64 * 1024;
  private static final int MOST_UNREAD = 4 * 1024 * 1024;

  private final List<String> events = new ArrayList<>();
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final NettySource source =
      new NettySource(
          channel,
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

  NettySourceTest() {
    channel.pipeline().addLast(source);
  }

  private static ByteBuf direct(byte[] bytes) {
    return Unpooled.directBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
  }

  /** The header of a message of so many bytes. */
  private static byte[] header(long count) {
    MessageHeader header =
        new MessageHeader(
            new OperationHeader(OpType.BROADCAST, 3, DType.UINT8, count), DType.UINT8, count);
    byte[] bytes = new byte[MessageHeader.BYTES];
    header.write(java.nio.ByteBuffer.wrap(bytes));
    return bytes;
  }

  @Test
  void receivingStopsWhileMuchIsUnreadAndGoesOnWhenItWasRead() {
    channel.writeInbound(direct(header(64 << 20)));
    int fed = 0;
    while (channel.config().isAutoRead()) {
      channel.writeInbound(direct(new byte[PIECE]));
      fed += PIECE;
      assertThat(fed).isLessThanOrEqualTo(MOST_UNREAD + PIECE);
    }
    int read = 0;
    while (!channel.config().isAutoRead()) {
      assertThat(source.read(bytes -> bytes.position(bytes.limit()))).isTrue();
      read += PIECE;
      assertThat(read).isLessThanOrEqualTo(fed);
    }
    assertThat(read).isGreaterThan(MOST_UNREAD / 2);
    source.close();
    assertThat(source.hasBytes()).isFalse();
    assertThat(events).isEmpty();
  }

  @Test
  void aConnectionThatEndsInTheMiddleOfAMessageIsBroken() {
    channel.writeInbound(direct(header(1000)));
    channel.writeInbound(direct(new byte[400]));
    channel.close();
    assertThat(events).hasSize(1);
    assertThat(events.get(0)).contains("in the middle of message 1, 600 bytes before its end");
    source.close();
  }

  @Test
  void aConnectionThatEndsAfterItsAnnouncementHasFinished() {
    channel.writeInbound(direct(header(0)));
    channel.writeInbound(direct(MessageHeader.end(5)));
    channel.close();
    assertThat(events).containsExactly("finished after 5");
    source.close();
  }

  @Test
  void whatIsNoMessageBreaksTheConnection() {
    byte[] garbage = new byte[MessageHeader.BYTES];
    java.util.Arrays.fill(garbage, (byte) 0x7f);
    channel.writeInbound(direct(garbage));
    assertThat(events).hasSize(1);
    assertThat(channel.isOpen()).isFalse();
    source.close();
  }

  @Test
  void whatComesAfterTheEndOfTheReaderIsReleased() {
    source.close();
    ByteBuf late = direct(header(10));
    channel.writeInbound(late);
    assertThat(late.refCnt()).isZero();
  }
}

package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.internal.transport.ConnectionListener;

/** Tests what is reported when a connection that stands for shared memory ends. */
class ConnectionEndTest {

  private final List<String> events = new ArrayList<>();
  private final ConnectionEnd end =
      new ConnectionEnd(
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
  private final EmbeddedChannel channel = new EmbeddedChannel(end);

  private void receive(byte[] bytes) {
    ByteBuf received = Unpooled.copiedBuffer(bytes);
    channel.writeInbound(received);
    assertThat(received.refCnt()).isZero();
  }

  private static byte[] message() {
    ByteBuffer bytes = ByteBuffer.allocate(MessageHeader.BYTES);
    new MessageHeader(RankOfTwo.allReduce(7), RankOfTwo.TENSOR.dtype(), RankOfTwo.TENSOR.count())
        .write(bytes);
    return bytes.array();
  }

  @Test
  void anAnnouncedEndIsTheEndOfTheGroup() {
    byte[] announced = MessageHeader.end(5);
    receive(Arrays.copyOf(announced, 17));
    receive(Arrays.copyOfRange(announced, 17, announced.length));
    assertThat(events).isEmpty();
    channel.close();
    assertThat(events).containsExactly("finished after 5");
  }

  @Test
  void anEndThatIsNotAnnouncedIsALoss() {
    receive(Arrays.copyOf(MessageHeader.end(5), 17));
    channel.close();
    assertThat(events).containsExactly("the connection was lost");
  }

  @Test
  void anErrorIsALoss() {
    channel.pipeline().fireExceptionCaught(new IOException("Connection reset"));
    assertThat(events).containsExactly("java.io.IOException: Connection reset");
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void whatIsNoAnnouncementBreaksTheConnection() {
    receive(message());
    assertThat(events).containsExactly("it carried a message that belongs into shared memory");
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void whatIsNoMessageBreaksTheConnection() {
    byte[] garbage = new byte[MessageHeader.BYTES];
    Arrays.fill(garbage, (byte) 0x7f);
    receive(garbage);
    assertThat(events).hasSize(1);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void whatFollowsTheAnnouncementBreaksTheConnection() {
    receive(MessageHeader.end(5));
    receive(new byte[1]);
    assertThat(events).containsExactly("it carried more than its end");
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void theEndThatThisSideMakesIsNoNews() {
    end.ignore();
    channel.close();
    assertThat(events).isEmpty();
  }
}

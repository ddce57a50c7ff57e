package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests what is heard of a port that cannot accept connections. */
class AcceptFailuresTest {

  private static final Duration LONG = Duration.ofHours(1);
  private final IOException lack = new IOException("Too many open files");

  private final List<DescriptorsExhaustedException> heard = new ArrayList<>();
  private final List<Object> accepted = new ArrayList<>();

  private EmbeddedChannel port(Duration patience) {
    // In the place of Netty's own, which takes what was accepted and passes failures on.
    ChannelInboundHandlerAdapter acceptor =
        new ChannelInboundHandlerAdapter() {
          @Override
          public void channelRead(ChannelHandlerContext context, Object connection) {
            accepted.add(connection);
          }
        };
    EmbeddedChannel port = new EmbeddedChannel(acceptor);
    AcceptFailures.addTo(port.pipeline(), new InetSocketAddress(0), patience, heard::add);
    return port;
  }

  @Test
  void aLackOfFileDescriptorsIsReportedAsLongAsItLasts() {
    EmbeddedChannel port = port(Duration.ZERO);
    port.pipeline().fireExceptionCaught(lack);
    port.pipeline().fireExceptionCaught(lack);
    assertThat(heard).hasSize(2);
    assertThat(heard.get(0)).hasMessageContaining("no file descriptors left").hasCause(lack);
    port.checkException();
  }

  @Test
  void neitherAShortLackNorAnotherFailureIsReported() {
    EmbeddedChannel port = port(LONG);
    port.pipeline().fireExceptionCaught(lack);
    port.pipeline().fireExceptionCaught(lack);
    assertThat(heard).isEmpty();
    port = port(Duration.ZERO);
    port.pipeline().fireExceptionCaught(new IOException("Software caused connection abort"));
    assertThat(heard).isEmpty();
    port.checkException();
  }

  @Test
  void connectionsThatAreAcceptedGoToWhoeverTakesThem() {
    EmbeddedChannel port = port(LONG);
    port.pipeline().fireExceptionCaught(lack);
    port.pipeline().fireChannelRead("connection");
    assertThat(accepted).containsExactly("connection");
    assertThat(heard).isEmpty();
  }
}

package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.net.TransportSecurity;

/** Attempts to connect that cannot succeed. */
class ConnectingTest {

  @Test
  void aChannelThatCannotBeSetUpFailsAtOnceAndNamesTheCause() throws Exception {
    NioEventLoopGroup loops = new NioEventLoopGroup(1);
    try (ServerSocket peer = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Endpoint endpoint =
          new Endpoint(
              1,
              new NodeAddress(
                  "peer",
                  new Place("", 1, false),
                  peer.getInetAddress().getHostAddress(),
                  peer.getLocalPort(),
                  "executor"),
              -1);
      Connector.Target target =
          new Connector.Target(endpoint, new ConnectionId("group", 0, 1, 0), new byte[16]);
      CompletableFuture<Channel> connected =
          new Connecting(
                  new Bootstrap().group(loops).channel(NioSocketChannel.class),
                  channel -> {
                    throw new NoClassDefFoundError("jdk/net/Missing");
                  },
                  TransportSecurity.plain(),
                  Duration.ofHours(1),
                  target,
                  pipeline -> {})
              .begin();
      assertThatThrownBy(() -> connected.get(60, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(TransportException.class)
          .hasMessageContaining("rank 0 cannot connect to rank 1 at ")
          .hasMessageContaining("NoClassDefFoundError: jdk/net/Missing");
    } finally {
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
    }
  }
}

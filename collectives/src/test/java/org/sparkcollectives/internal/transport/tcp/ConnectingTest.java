package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFactory;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.net.DescriptorShortage;
import org.sparkcollectives.net.DescriptorsExhaustedException;
import org.sparkcollectives.net.TransportSecurity;

/** Attempts to connect that do not succeed. */
class ConnectingTest {

  private static final Duration LONG = Duration.ofHours(1);

  private final NioEventLoopGroup loops = new NioEventLoopGroup(1);
  private ServerSocket peer;

  @BeforeEach
  void listen() throws IOException {
    peer = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void end() throws IOException, InterruptedException {
    peer.close();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
  }

  private CompletableFuture<Channel> connect(Consumer<Channel> listener) {
    return connect(NioSocketChannel::new, listener, LONG);
  }

  private CompletableFuture<Channel> connect(
      ChannelFactory<Channel> channels, Consumer<Channel> listener, Duration patience) {
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
    Bootstrap bootstrap = new Bootstrap().group(loops).channelFactory(channels);
    return new Connecting(
            bootstrap,
            listener,
            TransportSecurity.plain(),
            LONG,
            new DescriptorShortage(patience),
            target,
            pipeline -> {})
        .begin();
  }

  /** As Netty throws it. */
  private static ChannelException noDescriptor() {
    return new ChannelException(
        "Failed to open a socket.", new SocketException("Too many open files"));
  }

  @Test
  void aLastingLackOfFileDescriptorsIsGivenUpAndNamed() {
    CompletableFuture<Channel> connected =
        connect(
            () -> {
              throw noDescriptor();
            },
            channel -> {},
            Duration.ZERO);
    assertThatThrownBy(() -> connected.get(60, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("rank 0 cannot connect to rank 1 at ")
        .hasMessageContaining("the process has no file descriptors left")
        .hasMessageContaining("ulimit -n")
        .hasCauseInstanceOf(DescriptorsExhaustedException.class);
  }

  @Test
  void aShortLackOfFileDescriptorsIsNoFailure() throws IOException {
    AtomicInteger attempts = new AtomicInteger();
    CompletableFuture<Channel> connected =
        connect(
            () -> {
              if (attempts.incrementAndGet() <= 2) {
                throw noDescriptor();
              }
              return new NioSocketChannel();
            },
            channel -> {},
            LONG);
    try (Socket accepted = peer.accept()) {
      assertThat(accepted.isConnected()).isTrue();
      assertThat(attempts).hasValue(3);
      assertThat(connected).isNotDone();
      connected.cancel(false);
    }
  }

  @Test
  void aChannelThatCannotBeSetUpFailsAtOnceAndNamesTheCause() {
    CompletableFuture<Channel> connected =
        connect(
            channel -> {
              throw new NoClassDefFoundError("jdk/net/Missing");
            });
    assertThatThrownBy(() -> connected.get(60, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("rank 0 cannot connect to rank 1 at ")
        .hasMessageContaining("NoClassDefFoundError: jdk/net/Missing");
  }

  /** A rank that has left the group lets the handshake wait, as one that is not there yet does. */
  @Test
  void aConnectionWhoseHandshakeThePeerDoesNotAnswerEndsWithTheWishForIt() throws IOException {
    CompletableFuture<Channel> connected = connect(channel -> {});
    try (Socket accepted = peer.accept()) {
      accepted.setSoTimeout(60_000);
      assertThat(accepted.getInputStream().read()).as("the handshake has begun").isNotNegative();
      connected.cancel(false);
      accepted.getInputStream().readAllBytes(); // Until the connection has ended.
    }
  }
}

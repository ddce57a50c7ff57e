package org.sparkcollectives.net;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.sparkcollectives.testing.Threads;

/**
 * The two sides of the handshake, joined in memory, so that a test controls the wire and the clock.
 */
class HandshakeWire {

  static final ConnectionId ID = new ConnectionId("app/stage 1.0/world", 3, 5, 1);
  static final byte[] SECRET = "the secret".getBytes(UTF_8);
  static final Duration TIMEOUT = Duration.ofSeconds(10);

  final List<ConnectionId> accepted = new ArrayList<>();
  final List<String> refused = new ArrayList<>();
  UnauthenticatedConnections unauthenticated = new UnauthenticatedConnections();
  CompletableFuture<byte[]> serverSecret = CompletableFuture.completedFuture(SECRET);
  TransportSecurity serverSecurity = TransportSecurity.plain();
  TransportSecurity clientSecurity = TransportSecurity.plain();
  final CompletableFuture<Channel> done = new CompletableFuture<>();
  final EmbeddedChannel server = new EmbeddedChannel(false, false);
  final EmbeddedChannel client = new EmbeddedChannel(false, false);

  void open(byte[] clientSecret) throws Exception {
    ServerHandshake.Gate gate =
        new ServerHandshake.Gate() {
          @Override
          public CompletableFuture<byte[]> secretFor(ConnectionId id) {
            return serverSecret;
          }

          @Override
          public void accepted(ConnectionId id, ChannelPipeline pipeline) {
            accepted.add(id);
          }

          @Override
          public void refused(String remoteAddress, String why) {
            refused.add(why);
          }
        };
    for (EmbeddedChannel channel : List.of(server, client)) {
      channel.freezeTime();
    }
    server
        .pipeline()
        .addLast(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                ServerHandshake.addTo(
                    channel.pipeline(), gate, unauthenticated, serverSecurity, TIMEOUT);
              }
            });
    client
        .pipeline()
        .addLast(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                ClientHandshake.addTo(
                    channel.pipeline(), ID, clientSecret, clientSecurity, TIMEOUT, done);
              }
            });
    server.register();
    client.register();
  }

  @AfterEach
  final void release() {
    client.finishAndReleaseAll();
    server.finishAndReleaseAll();
  }

  /** Carries what was written to the other side until nothing more is written. */
  void exchange(UnaryOperator<byte[]> toServer, UnaryOperator<byte[]> toClient) {
    boolean moved = true;
    while (moved) {
      server.runPendingTasks();
      client.runPendingTasks();
      boolean forth = move(client, server, toServer);
      boolean back = move(server, client, toClient);
      moved = forth || back;
    }
  }

  static boolean move(EmbeddedChannel from, EmbeddedChannel to, UnaryOperator<byte[]> change) {
    ByteBuf all = Unpooled.buffer();
    for (ByteBuf part = from.readOutbound(); part != null; part = from.readOutbound()) {
      all.writeBytes(part);
      part.release();
    }
    byte[] bytes = ByteBufUtil.getBytes(all);
    all.release();
    if (bytes.length == 0 || !to.isOpen()) {
      return false;
    }
    to.writeInbound(Unpooled.wrappedBuffer(change.apply(bytes)));
    return true;
  }

  /** Returns a message of the handshake as it goes over the wire. */
  static byte[] frame(ByteBuf message) {
    ByteBuf frame = Unpooled.buffer().writeShort(message.readableBytes()).writeBytes(message);
    return ByteBufUtil.getBytes(frame);
  }

  void exchange() {
    exchange(UnaryOperator.identity(), UnaryOperator.identity());
  }

  HandshakeException clientFailure() throws Exception {
    assertThat(done).isDone();
    assertThat(client.isOpen()).isFalse();
    return (HandshakeException) Threads.failure(done);
  }

  void openWith(TransportSecurity ofServer, TransportSecurity ofClient) throws Exception {
    serverSecurity = ofServer;
    clientSecurity = ofClient;
    open(SECRET);
  }
}

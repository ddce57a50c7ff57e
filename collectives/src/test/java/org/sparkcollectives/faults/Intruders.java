package org.sparkcollectives.faults;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.net.ClientHandshake;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.net.EventLoops;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.Eventually;

/** Connections to a port of this host by somebody who does not have the secret. */
final class Intruders implements AutoCloseable {

  private final int port;
  private final List<SocketChannel> connections = new ArrayList<>();

  Intruders(int port) {
    this.port = port;
  }

  /** Opens {@code count} further connections. */
  void open(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      SocketChannel connection = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
      connections.add(connection);
      connection.configureBlocking(false);
    }
  }

  /** Sends one byte over each that is still open. */
  void sendEach(int value) {
    for (SocketChannel each : connections) {
      try {
        each.write(ByteBuffer.wrap(new byte[] {(byte) value}));
      } catch (IOException e) {
        // It was refused, as it should be.
      }
    }
  }

  /** Returns how many the port has closed. */
  long turnedAway() {
    return connections.stream().filter(Intruders::isClosedByTheOther).count();
  }

  private static boolean isClosedByTheOther(SocketChannel connection) {
    try {
      return connection.read(ByteBuffer.allocate(64)) < 0;
    } catch (IOException e) {
      return true;
    }
  }

  /** Tries to connect with a wrong secret; returns the answer. */
  String guess(ConnectionId id, byte[] secret, TransportSecurity security) {
    CompletableFuture<Channel> done = new CompletableFuture<>();
    try (EventLoops loops = EventLoops.openNio("intruder", 1)) {
      new Bootstrap()
          .group(loops.group())
          .channel(loops.channelType())
          .handler(
              new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel channel) {
                  ClientHandshake.addTo(
                      channel.pipeline(), id, secret, security, Eventually.LIMIT, done);
                }
              })
          .connect("127.0.0.1", port);
      return done.handle((channel, cause) -> cause == null ? "welcome" : cause.getMessage())
          .orTimeout(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS)
          .join();
    }
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel each : connections) {
      each.close();
    }
  }
}

package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.net.ClientHandshake;
import org.sparkcollectives.net.EventLoops;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests that a server needs memory for its values and a little for each client, whatever the
 * clients ask for and however slowly they read; and that no client waits for a reply that does not
 * come.
 */
@ExtendWith(LeakCheck.class)
@Timeout(900)
class TcpStoreMemoryTest {

  private static final byte[] NO_SECRET = {0};
  private static final int MIB = 1 << 20;

  /** Serves a store with a large value and some that fill a reply of {@link #MIB} bytes. */
  static final class Server {

    static final List<String> KEYS = Collections.nCopies(1024, "small");

    private Server() {}

    public static void main(String[] args) throws IOException {
      try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0)) {
        server.set("large", new byte[Integer.parseInt(args[0])]);
        server.set("small", new byte[1024 - 5]);
        System.out.println("port " + server.port() + ";");
        // Ends with the test.
        System.out.println("read " + System.in.read());
      }
    }
  }

  private static ForkedJvm serve(int heapMib, int valueBytes) throws IOException {
    ForkedJvm server =
        ForkedJvm.start(List.of("-Xmx" + heapMib + "m"), Server.class, String.valueOf(valueBytes));
    server.awaitOutput(";");
    return server;
  }

  private static int port(ForkedJvm server) {
    return Integer.parseInt(server.output().replaceAll("(?s).*port (\\d+);.*", "$1"));
  }

  /** A client that sends requests as they are, and reads what comes only when it is told to. */
  private static final class SlowClient extends SimpleChannelInboundHandler<ByteBuf> {

    /** Much less than a reply. */
    private static final int RECEIVE_BUFFER_BYTES = 64 << 10;

    private final Channel channel;
    private final int awaited;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private long bytes;

    private SlowClient(Channel channel, int awaited) {
      this.channel = channel;
      this.awaited = awaited;
    }

    static SlowClient connect(EventLoops loops, int port, int awaited) throws Exception {
      CompletableFuture<Channel> ready = new CompletableFuture<>();
      new Bootstrap()
          .group(loops.group())
          .channel(loops.channelType())
          .option(ChannelOption.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
          .handler(
              new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel channel) {
                  ClientHandshake.addTo(
                      channel.pipeline(),
                      StoreFrames.CONNECTION,
                      NO_SECRET,
                      TransportSecurity.plain(),
                      Duration.ofMinutes(5),
                      ready);
                }
              })
          .connect("127.0.0.1", port);
      SlowClient client = new SlowClient(ready.get(300, TimeUnit.SECONDS), awaited);
      client.channel.config().setAutoRead(false);
      client.channel.pipeline().addLast(client);
      return client;
    }

    void ask(List<String> keys) {
      byte[] request =
          StoreCodec.encode(
              1, StoreRequest.of(StoreOperation.GET, keys, List.of(), 0, Duration.ofMinutes(10)));
      channel.writeAndFlush(
          Unpooled.wrappedBuffer(
              Unpooled.copyInt(request.length), Unpooled.wrappedBuffer(request)));
    }

    void read() {
      channel.config().setAutoRead(true);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf received) {
      bytes += received.readableBytes();
      if (bytes >= awaited) {
        done.complete(null);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      done.completeExceptionally(new IOException("closed after " + bytes + " bytes"));
    }
  }

  /**
   * Has slow clients ask, and read only when all have asked; each must get all that it asked for.
   */
  private static void allGetWhatTheyAskFor(
      ForkedJvm server, int clients, int asks, List<String> keys, int bytesOfAll) throws Exception {
    EventLoops loops = EventLoops.openNio("test-slow-clients", 1);
    try {
      List<SlowClient> all = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        SlowClient client = SlowClient.connect(loops, port(server), bytesOfAll);
        all.add(client);
        for (int ask = 0; ask < asks; ask++) {
          client.ask(keys);
        }
      }
      // The server has carried out what these clients ask once it answers a later one.
      try (Store last = TcpStore.connect("127.0.0.1", port(server), Duration.ofMinutes(5))) {
        assertThat(last.check(List.of("large"))).isTrue();
      }
      all.forEach(SlowClient::read);
      for (SlowClient each : all) {
        each.done.get(300, TimeUnit.SECONDS);
      }
      assertThat(server.output()).doesNotContain("OutOf");
    } finally {
      loops.close();
    }
  }

  @Test
  void repliesShareTheValue() throws Exception {
    try (ForkedJvm server = serve(64, 16 * MIB)) {
      allGetWhatTheyAskFor(server, 20, 1, List.of("large"), 16 * MIB);
      allGetWhatTheyAskFor(server, 1, 20, List.of("large"), 20 * 16 * MIB);
    }
  }

  @Test
  @Tag("faults")
  void fortyGetsOf30MiBNeedNoMore() throws Exception {
    try (ForkedJvm server = serve(256, 30 * MIB)) {
      allGetWhatTheyAskFor(server, 40, 1, List.of("large"), 30 * MIB);
      allGetWhatTheyAskFor(server, 1, 40, List.of("large"), 40 * 30 * MIB);
    }
  }

  @Test
  void clientsThatDoNotReadCostAChunkEach() throws Exception {
    try (ForkedJvm server = serve(64, 1)) {
      allGetWhatTheyAskFor(server, 50, 8, Server.KEYS, 8 * MIB);
    }
  }

  @Test
  @Tag("faults")
  void twoThousandClientsThatDoNotReadCostAChunkEach() throws Exception {
    try (ForkedJvm server = serve(256, 1)) {
      allGetWhatTheyAskFor(server, 2000, 4, Server.KEYS, 4 * MIB);
    }
  }

  @Test
  void aValueThatDoesNotFitIsRefusedAndTheStoreGoesOn() throws Exception {
    try (ForkedJvm server = serve(64, 1);
        Store client = TcpStore.connect("127.0.0.1", port(server), Duration.ofMinutes(5))) {
      byte[] value = new byte[10 * MIB];
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 20; i++) {
                  client.set("value " + i, value);
                }
              })
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("out of memory");
      client.deleteKey("value 0");
      client.deleteKey("value 1");
      assertThat(client.check(List.of("large"))).isTrue();
    }
  }
}

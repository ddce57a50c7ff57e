package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.TestTls;
import org.sparkcollectives.testing.Threads;

/** Tests what only a store on the network does. */
@ExtendWith(LeakCheck.class)
@Timeout(120)
class TcpStoreTest {

  private static final TransportSecurity PLAIN = TransportSecurity.plain();

  private static void awaitParked(TcpStoreServer server, int count) {
    Eventually.holds(
        () -> server.table().waiterCount() == count,
        () -> server.table().waiterCount() + " waiters instead of " + count);
  }

  private static WatchableStore connect(TcpStoreServer server) {
    return TcpStore.connect("127.0.0.1", server.port(), Eventually.LIMIT);
  }

  private static long threadsNamed(String part) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().contains(part))
        .count();
  }

  @Test
  void anyNumberOfWaitingClientsNeedsOneThreadAtEachSide() throws Exception {
    int clients = 64;
    List<WatchableStore> stores = new ArrayList<>();
    try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0)) {
      List<CompletableFuture<byte[]>> watches = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        WatchableStore store = connect(server);
        stores.add(store);
        watches.add(store.watch("go"));
      }
      awaitParked(server, clients);
      assertThat(threadsNamed("collectives-store-server")).isEqualTo(1);
      assertThat(threadsNamed("collectives-store-client")).isEqualTo(1);
      server.set("go", new byte[] {1});
      for (CompletableFuture<byte[]> watch : watches) {
        assertThat(Threads.result(watch)).containsExactly(1);
      }
    } finally {
      stores.forEach(Store::close);
    }
  }

  @Test
  void aLostServerFailsEveryKindOfCallAtOnceWithItsAddress() throws Exception {
    TcpStoreServer server = TcpStore.server("127.0.0.1", 0);
    try (WatchableStore store = connect(server);
        Threads threads = new Threads()) {
      List<Future<?>> blocked =
          List.of(
              threads.start(() -> store.get("nope")),
              threads.start(() -> store.queuePop("nope", true)),
              threads.start(
                  () -> {
                    store.barrier("b", 2, Eventually.LIMIT);
                    return null;
                  }),
              store.watch("nope"));
      awaitParked(server, blocked.size());
      server.close();
      for (Future<?> call : blocked) {
        assertThat(Threads.failure(call))
            .isInstanceOf(StoreConnectionException.class)
            .hasMessageContaining("127.0.0.1:" + server.port());
      }
      assertThatThrownBy(() -> store.check(List.of("k")))
          .isInstanceOf(StoreConnectionException.class);
    } finally {
      server.close();
    }
  }

  @Test
  void aStoreMayBeClosedByWhatAWatchSetsOff() throws Exception {
    TcpStoreServer server = TcpStore.server("127.0.0.1", 0);
    WatchableStore store = connect(server);
    CompletableFuture<Void> closed =
        store
            .watch("end")
            .thenAccept(
                value -> {
                  store.close();
                  server.close();
                });
    server.set("end", new byte[0]);
    Threads.result(closed);
    assertThatThrownBy(() -> store.get("k")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void onlyClientsThatAreInAreWaitedFor() throws Exception {
    try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0);
        Socket stranger = new Socket("127.0.0.1", server.port())) {
      assertThat(stranger.isConnected()).isTrue();
      WatchableStore store = connect(server);
      store.set("k", new byte[0]);
      assertThat(server.awaitClientsGone(Duration.ofMillis(20))).isFalse();
      store.close();
      assertThat(server.awaitClientsGone(Eventually.LIMIT)).isTrue();
    }
  }

  @Test
  void aServerIsWaitedForThatComesLater() throws Exception {
    int port;
    try (TcpStoreServer scout = TcpStore.server("127.0.0.1", 0)) {
      port = scout.port();
    }
    try (Threads threads = new Threads()) {
      Future<WatchableStore> connecting =
          threads.start(() -> TcpStore.connect("127.0.0.1", port, Eventually.LIMIT));
      Eventually.holds(() -> threadsNamed("store-client") == 1, () -> "no attempt to connect");
      try (TcpStoreServer server = TcpStore.server("127.0.0.1", port);
          WatchableStore store = Threads.result(connecting)) {
        assertThat(store.add("n", 1)).isEqualTo(1);
        assertThat(server.add("n", 1)).isEqualTo(2);
      }
    }
  }

  @Test
  void sidesThatDoNotAgreeOnTlsOrTheSecretAreToldApart() throws Exception {
    byte[] secret = {1};
    TransportSecurity tls = TestTls.create();
    Duration brief = Duration.ofSeconds(1);
    try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0, secret, tls)) {
      assertThatThrownBy(
              () ->
                  TcpStore.connect(
                      "127.0.0.1", server.port(), new byte[] {2}, tls, Eventually.LIMIT))
          .isInstanceOf(StoreConnectionException.class)
          .hasMessageContaining("secret");
      assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", server.port(), secret, PLAIN, brief))
          .isInstanceOf(StoreConnectionException.class)
          .hasMessageContaining("127.0.0.1:" + server.port());
      try (Store store =
          TcpStore.connect("127.0.0.1", server.port(), secret, tls, Eventually.LIMIT)) {
        assertThat(store.add("n", 1)).isEqualTo(1);
      }
    }
  }

  @Test
  void ipv6LiteralsWorkWithAndWithoutBrackets() throws Exception {
    assumeThat(NetworkInterface.getByInetAddress(InetAddress.getByName("::1"))).isNotNull();
    for (String host : List.of("::1", "[::1]")) {
      try (TcpStoreServer server = TcpStore.server(host, 0);
          Store store = TcpStore.connect(host, server.port(), Eventually.LIMIT)) {
        assertThat(store.add("n", 1)).isEqualTo(1);
      }
    }
  }

  @Test
  void aClientThatDoesNotReadIsNotReadFrom() {
    StoreTable table = new StoreTable();
    EmbeddedChannel channel =
        new EmbeddedChannel(new TcpStoreConnection(new StoreSession(table, ""), () -> {}));
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    channel.runPendingTasks();
    assertThat(channel.config().isAutoRead()).isFalse();
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    channel.runPendingTasks();
    assertThat(channel.config().isAutoRead()).isTrue();
    channel.finishAndReleaseAll();
  }
}

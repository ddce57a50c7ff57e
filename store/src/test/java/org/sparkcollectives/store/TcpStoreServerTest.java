package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.Warnings;

/** Tests the handle of the process that serves a TCP store. */
@SuppressWarnings("try") // Closing early is what is tested.
class TcpStoreServerTest extends StoreContractTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final byte[] SECRET = "secret".getBytes(StandardCharsets.UTF_8);

  private TcpStoreServer server;

  @Override
  protected Store create() {
    server = TcpStore.server("127.0.0.1", 0);
    return server;
  }

  @Override
  protected Store createOther() {
    return server;
  }

  @Override
  protected StoreTable table() {
    return server.table();
  }

  @Override
  protected void destroy() {}

  @Test
  void aDeadServerFailsTheBlockedCallsOfItsClientsAtOnce() throws Exception {
    try (TcpStoreServer mortal = TcpStore.server("127.0.0.1", 0);
        Store client = TcpStore.connect("127.0.0.1", mortal.port(), LONG)) {
      CompletableFuture<byte[]> blocked = CompletableFuture.supplyAsync(() -> client.get("never"));
      while (mortal.table().waiterCount() == 0) {
        Thread.onSpinWait();
      }
      mortal.close();
      assertThatThrownBy(() -> blocked.get(30, TimeUnit.SECONDS))
          .hasCauseInstanceOf(StoreConnectionException.class)
          .hasMessageContaining("127.0.0.1:" + mortal.port());
      assertThatThrownBy(() -> client.set("k", new byte[1]))
          .isInstanceOf(StoreConnectionException.class);
    }
  }

  @Test
  void aClientThatIsGoneLeavesNoWaiters() {
    Store client = TcpStore.connect("127.0.0.1", server.port(), LONG);
    CompletableFuture.runAsync(() -> client.get("never"));
    while (server.table().waiterCount() == 0) {
      Thread.onSpinWait();
    }
    client.close();
    assertThat(server.awaitClientsGone(Duration.ofSeconds(30))).isTrue();
    while (server.table().waiterCount() > 0) {
      Thread.onSpinWait();
    }
  }

  /** A value whose bytes cannot be read any more when they are sent. */
  private static StoredValue unreadable() {
    return new StoredValue() {
      @Override
      public int size() {
        return 1;
      }

      @Override
      public byte[] bytes() {
        throw new IllegalStateException("the value's file is gone");
      }
    };
  }

  @Test
  void aReplyThatCannotBeSentFailsTheCallsOfItsClientAtOnceAndIsInTheLog() {
    server.table().set(List.of("unreadable"), List.of(unreadable()));
    try (Warnings log = new Warnings(TcpStoreConnection.class);
        Store client = TcpStore.connect("127.0.0.1", server.port(), LONG);
        Store other = TcpStore.connect("127.0.0.1", server.port(), LONG)) {
      CompletableFuture<byte[]> blocked = CompletableFuture.supplyAsync(() -> client.get("never"));
      while (server.table().waiterCount() == 0) {
        Thread.onSpinWait();
      }
      assertThatThrownBy(() -> client.get("unreadable"))
          .isInstanceOf(StoreConnectionException.class)
          .hasMessageContaining("127.0.0.1:" + server.port());
      assertThatThrownBy(() -> blocked.get(30, TimeUnit.SECONDS))
          .hasCauseInstanceOf(StoreConnectionException.class);
      assertThat(log.lines())
          .singleElement()
          .asString()
          .contains("Closes the connection of the store client at /127.0.0.1:")
          .contains("as it cannot be served");
      assertThat(other.add("still here", 1)).isEqualTo(1);
    }
  }

  @Test
  void aWrongSecretIsRefusedAndTheRightOneIsNot() {
    TransportSecurity plain = TransportSecurity.plain();
    try (TcpStoreServer guarded = TcpStore.server("127.0.0.1", 0, SECRET, plain)) {
      byte[] wrong = "guess".getBytes(StandardCharsets.UTF_8);
      assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", guarded.port(), wrong, plain, LONG))
          .isInstanceOf(StoreConnectionException.class)
          .hasMessageContaining("secret");
      try (Store client = TcpStore.connect("127.0.0.1", guarded.port(), SECRET, plain, LONG)) {
        client.set("k", new byte[] {1});
        assertThat(guarded.get("k")).containsExactly(1);
      }
    }
  }

  @Test
  void withoutASecretAStoreIsServedAndReachedOnTheLoopbackAddressOnly() {
    for (String open : List.of("0.0.0.0", "::", "192.0.2.1", "no.such.host.invalid")) {
      assertThatThrownBy(() -> TcpStore.server(open, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("The store at " + open + ":0 needs a secret")
          .hasMessageContaining("spark.collectives.rendezvous.secret");
      assertThatThrownBy(() -> TcpStore.connect(open, 29500, LONG))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("The store at " + open + ":29500 needs a secret");
    }
    for (String closed : List.of("127.0.0.1", "localhost")) {
      TcpStore.server(closed, 0).close();
    }
  }

  @Test
  void randomBytesAreRefusedAndDisturbNobody() throws Exception {
    try (Store client = TcpStore.connect("127.0.0.1", server.port(), LONG)) {
      for (byte[] garbage :
          List.of(
              "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
              new byte[] {0, 4, 1, 2, 3, 4},
              new byte[] {(byte) 0xff, (byte) 0xff, 1})) {
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
          OutputStream out = socket.getOutputStream();
          out.write(garbage);
          out.flush();
          assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
      }
      assertThat(client.add("still here", 1)).isEqualTo(1);
    }
  }

  @Test
  void aPortInUseIsNamed() {
    assertThatThrownBy(() -> TcpStore.server("127.0.0.1", server.port()))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("127.0.0.1")
        .hasMessageContaining(String.valueOf(server.port()));
  }

  @Test
  void anAbsentServerIsNamedWhenTheTimeIsOver() {
    int port = server.port();
    server.close();
    assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", port, Duration.ofMillis(200)))
        .isInstanceOf(StoreConnectionException.class)
        .hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("200ms");
  }

  @Test
  void clientsOfAHostOfWhichNothingIsHeardAreNotWaitedFor() {
    try (TcpStoreServer served = TcpStore.server("127.0.0.1", 0);
        Store client = TcpStore.connect("127.0.0.1", served.port(), Duration.ofSeconds(30))) {
      client.set("key", new byte[0]);
      long start = System.nanoTime();
      assertThat(served.awaitClientsGone(Duration.ofMinutes(5), Duration.ofMillis(200))).isFalse();
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(Duration.ofMillis(200), Duration.ofMinutes(1));
    }
  }

  @Test
  void aClientOfWhichSomethingIsHeardIsWaitedFor() {
    try (TcpStoreServer served = TcpStore.server("127.0.0.1", 0)) {
      Store client = TcpStore.connect("127.0.0.1", served.port(), Duration.ofSeconds(30));
      CompletableFuture<Void> talking =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 300; i++) {
                  client.set("beat", new byte[0]);
                  LockSupport.parkNanos(5_000_000);
                }
                client.close();
              },
              body -> new Thread(body).start());
      assertThat(served.awaitClientsGone(Duration.ofMinutes(5), Duration.ofSeconds(20))).isTrue();
      talking.join();
    }
  }
}

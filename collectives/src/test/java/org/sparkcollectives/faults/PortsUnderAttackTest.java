package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.transport.tcp.ListenAddress;
import org.sparkcollectives.internal.transport.tcp.SocketOptions;
import org.sparkcollectives.internal.transport.tcp.TcpTransport;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.net.UnauthenticatedConnections;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;

/** Tests ports of ranks and of a store to which strangers connect while a job runs. */
@ExtendWith(LeakCheck.class)
class PortsUnderAttackTest {

  private static final int RANKS = 2;

  /** The number of connections, more than any port keeps open. */
  private static final int EACH = UnauthenticatedConnections.LIMIT + 76;

  private static final byte[] SECRET = "the right one".getBytes(StandardCharsets.UTF_8);
  private static final byte[] GUESS = "a guess".getBytes(StandardCharsets.UTF_8);
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private TransportSecurity security;
  private HostedRank[] contexts;
  private int[] ports;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aThousandHalfOpenConnectionsAtEachPortDisturbNeitherAJobNorAGroupThatJoins(boolean tls)
      throws Exception {
    security = tls ? TransportSecurity.ephemeralTls() : TransportSecurity.plain();
    ports = new int[] {RankProcesses.freePort(), RankProcesses.freePort()};
    contexts = new HostedRank[RANKS];
    for (int rank = 0; rank < RANKS; rank++) {
      contexts[rank] =
          new HostedRank(
              List.of("spark.collectives.port=" + ports[rank], "spark.port.maxRetries=0"),
              security);
    }
    try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0, SECRET, security)) {
      // Everything that is made once is made now.
      runGroup(server.port(), group -> true);
      Footprint before = Footprint.now();

      AtomicLong rounds = new AtomicLong();
      AtomicBoolean over = new AtomicBoolean();
      CompletableFuture<Void> job =
          CompletableFuture.runAsync(
              () ->
                  runGroup(
                      server.port(),
                      group -> {
                        rounds.incrementAndGet();
                        return over.get();
                      }));
      awaitMore(rounds, job);
      try (Intruders atStore = new Intruders(server.port());
          Intruders atFirst = new Intruders(ports[0]);
          Intruders atSecond = new Intruders(ports[1])) {
        List<Intruders> all = List.of(atStore, atFirst, atSecond);
        for (Intruders each : all) {
          each.open(EACH);
          // With TLS, this byte begins its handshake.
          each.sendEach(tls ? 22 : 0);
        }
        awaitMore(rounds, job);
        for (Intruders each : all) {
          Eventually.holds(
              () -> each.turnedAway() >= EACH - UnauthenticatedConnections.LIMIT,
              () -> each.turnedAway() + " connections were closed");
          each.sendEach(3);
        }
        runGroup(server.port(), group -> true);
        assertThat(atStore.guess(new ConnectionId("store", 0, 0, 0), GUESS, security))
            .contains("it refused the secret");
        awaitMore(rounds, job);
      } finally {
        over.set(true);
      }
      job.join();

      Footprint after = footprintWithAtMost(before.descriptors() + 10);
      assertThat(after.descriptors()).isLessThanOrEqualTo(before.descriptors() + 10);
      assertThat(after.heap()).isLessThan(before.heap() + (16L << 20));
      assertThat(after.netty()).isLessThan(before.netty() + (256L << 20));
    }
  }

  @Test
  void aWrongSecretIsRefusedAtAPortOfRanks() throws Exception {
    SocketOptions sockets = new SocketOptions(0, LIMIT);
    TransportSecurity plain = TransportSecurity.plain();
    AtomicBoolean accepted = new AtomicBoolean();
    ListenAddress address = new ListenAddress("127.0.0.1", "", 0, 0);
    try (TcpTransport port = new TcpTransport(address, sockets, plain, LIMIT);
        Intruders intruders = new Intruders(port.address().getPort())) {
      port.register("group", 0, SECRET, (id, pipeline) -> accepted.set(true));
      ConnectionId id = new ConnectionId("group", 1, 0, 0);
      assertThat(intruders.guess(id, GUESS, plain)).contains("it refused the secret");
      assertThat(accepted).isFalse();
      assertThat(intruders.guess(id, SECRET, plain)).isEqualTo("welcome");
    }
  }

  /**
   * Returns the footprint as soon as the closed connections are gone, or after the last attempt.
   */
  private static Footprint footprintWithAtMost(int descriptors) throws Exception {
    Footprint now = Footprint.now();
    for (int i = 0; i < 100 && now.descriptors() > descriptors; i++) {
      Thread.sleep(100);
      now = Footprint.now();
    }
    return now;
  }

  private static void awaitMore(AtomicLong rounds, CompletableFuture<Void> job) {
    long now = rounds.get();
    Eventually.holds(() -> rounds.get() > now + 20 || job.isDone(), () -> "the job hangs");
    assertThat(job).isNotDone();
  }

  /** Sums among all ranks repeatedly, until it is over for rank 0. */
  private void runGroup(int storePort, Predicate<ProcessGroup> isOver) {
    GroupOptions options = GroupOptions.defaults().withTransports("tcp");
    RankThreads.run(
        RANKS,
        rank -> {
          try (Store store = TcpStore.connect("127.0.0.1", storePort, SECRET, security, LIMIT);
              ProcessGroup group =
                  HostedGroups.create(store, rank, RANKS, options, contexts[rank])) {
            long[] sum = {0};
            while (sum[0] == 0) {
              sum[0] = rank == 0 && isOver.test(group) ? 1 : 0;
              group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
            }
            return null;
          }
        });
  }
}

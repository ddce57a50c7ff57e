package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;
import org.sparkcollectives.testing.Wiretap;

/** Tests that the ranks learn of a rank whose process hangs, or whose network drops everything. */
@ExtendWith(LeakCheck.class)
class UnresponsiveRankTest {

  private static final String TIMEOUT = "spark.collectives.heartbeat.timeout";

  /** A rank in a process, of three: rank 1 waits for a message, the others for rank 1. */
  static final class WaitingRank {

    private WaitingRank() {}

    public static void main(String[] args) {
      System.setProperty(TIMEOUT, "4s");
      int rank = Integer.parseInt(args[0]);
      GroupOptions options = GroupOptions.defaults().withTransports(args[2].split(",", -1));
      try (ProcessGroup world = Rendezvous.join(args[1], rank, 3, options)) {
        world.barrier().await();
        System.out.println("waits");
        try {
          if (rank == 1) {
            world.recv(Tensor.of(new long[1]), 0, 0).await();
          } else {
            world.allReduce(Tensor.of(new long[1_000]), ReduceOp.SUM).await();
          }
        } catch (CollectiveException e) {
          // This comes before the group is closed, for which rank 0 waits until the store has no
          // clients.
          System.out.println("failed: " + e.getMessage());
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"heap,shm,tcp", "tcp"})
  void aProcessThatStandsStillIsNamedByAllAndByItselfWhenItGoesOn(String transports)
      throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    try (RankProcesses ranks = RankProcesses.start(WaitingRank.class, 3, url, transports)) {
      for (int rank = 0; rank < 3; rank++) {
        ranks.awaitOutput(rank, "waits");
      }
      ranks.stop(1);
      ranks.awaitOutput(0, "failed");
      ranks.awaitOutput(2, "failed");
      assertThat(ranks.output(0))
          .contains("all-reduce #")
          .contains("because rank 1 (127.0.0.1, executor process ")
          .contains("is unresponsive: its process has sent no heartbeat for ");
      assertThat(ranks.output(2)).contains("because rank 1 (127.0.0.1, executor process ");
      ranks.resume(1);
      assertThat(ranks.exitStatus(1)).as(ranks.output(1)).isZero();
      assertThat(ranks.output(1)).contains("failed: recv");
    }
  }

  @Test
  void aRankThatIsCutOffFailsItsGroupsAndNoOthers() throws Exception {
    CountDownLatch made = new CountDownLatch(3);
    CountDownLatch failed = new CountDownLatch(2);
    try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0);
        Wiretap wire = Wiretap.on(server.port())) {
      RankThreads.run(
          3,
          rank -> {
            int port = rank == 1 ? wire.port() : server.port();
            try (Store store = TcpStore.connect("127.0.0.1", port, Duration.ofSeconds(20));
                ProcessGroup world =
                    HostedGroups.create(
                        store,
                        rank,
                        3,
                        GroupOptions.defaults(),
                        HostedRank.inNode(rank, TIMEOUT + "=1s"))) {
              ProcessGroup first = world.newGroup(0, 1);
              ProcessGroup others = world.newGroup(0, 2);
              made.countDown();
              made.await();
              if (rank == 1) {
                Work never = world.recv(Tensor.of(new double[1]), 0, 0);
                wire.cut();
                failed.await();
                // The rank learns of the failure from its peers, or finds out that nothing answers.
                assertThatThrownBy(never::await).isInstanceOf(CollectiveException.class);
                wire.breakConnections();
                return null;
              }
              assertThatThrownBy(() -> world.barrier().await())
                  .isInstanceOfSatisfying(
                      PeerFailedException.class,
                      e -> {
                        assertThat(e.failure().kind()).isEqualTo(Failure.Kind.UNRESPONSIVE);
                        assertThat(e.failure().rank()).isEqualTo(1);
                      });
              if (rank == 0) {
                assertThatThrownBy(() -> first.barrier().await())
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessageContaining("rank 1")
                    .hasMessageContaining("is unresponsive");
              }
              int[] sum = {1};
              others.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
              assertThat(sum).containsExactly(2);
              failed.countDown();
              failed.await();
            }
            return null;
          });
    }
  }

  /**
   * Runs two ranks in nodes of their own, which reach their store over a wire that can be cut.
   *
   * @param storeTimeout how long they would wait for the store if nobody noticed
   */
  private static void overWire(Duration storeTimeout, OverWire body) throws Exception {
    try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0);
        Wiretap wire = Wiretap.on(server.port())) {
      RankThreads.run(
          2,
          rank -> {
            try (Store store = TcpStore.connect("127.0.0.1", wire.port(), storeTimeout);
                ProcessGroup world =
                    HostedGroups.create(
                        store,
                        rank,
                        2,
                        GroupOptions.defaults(),
                        HostedRank.inNode(rank, TIMEOUT + "=1s"))) {
              body.run(world, wire);
            }
            return null;
          });
    }
  }

  private interface OverWire {
    void run(ProcessGroup world, Wiretap wire) throws Exception;
  }

  @Test
  void aRankThatHearsNothingOfItsStoreWaitsNoLongerThanForAnUnresponsiveRank() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    overWire(
        Duration.ofSeconds(20),
        (world, wire) -> {
          world.barrier().await();
          if (world.rank() == 0) {
            wire.cut();
            assertThatThrownBy(() -> world.barrier().await())
                .isInstanceOf(GroupAbortedException.class)
                .hasMessageContaining("nothing has been heard of the group's store for");
            // Otherwise each request to the store on leaving would wait for an answer.
            wire.breakConnections();
            over.countDown();
          } else {
            over.await();
          }
        });
  }

  @Test
  void aCheckpointWaitsNoLongerForAnUnresponsiveStore() throws Exception {
    CountDownLatch over = new CountDownLatch(2);
    overWire(
        Duration.ofSeconds(50),
        (world, wire) -> {
          world.checkpoint("state", List.of(Tensor.of(1)));
          world.barrier().await();
          wire.cut();
          long start = System.nanoTime();
          assertThatThrownBy(() -> world.checkpoint("state", List.of(Tensor.of(2))))
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("nothing has been heard of the group's store for");
          assertThat(Duration.ofNanos(System.nanoTime() - start))
              .as("less than the store's own timeout")
              .isLessThan(Duration.ofSeconds(45));
          over.countDown();
          over.await();
          // Otherwise each request to the store on leaving would wait for an answer.
          wire.breakConnections();
        });
  }
}

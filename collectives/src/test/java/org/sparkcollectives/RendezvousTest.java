package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;

/** How ranks meet, in processes of their own too. */
@ExtendWith(LeakCheck.class)
class RendezvousTest {

  /** A rank in a process: sums what all ranks have, again and again if it is told to. */
  static final class SummingRank {

    private SummingRank() {}

    public static void main(String[] args) {
      int rank = Integer.parseInt(args[0]);
      String url = "tcp://127.0.0.1:" + args[1] + "?rank=" + rank + "&world_size=" + args[2];
      boolean forEver = args.length > 3;
      try (ProcessGroup world = Rendezvous.join(url)) {
        do {
          long[] sum = new long[100_000];
          java.util.Arrays.fill(sum, rank + 1);
          world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
          System.out.println("sum " + sum[99_999]);
        } while (forEver);
      } catch (PeerFailedException e) {
        System.out.println("failed " + e.failure().kind() + " rank " + e.failure().rank());
        throw e;
      }
    }
  }

  @Test
  void processesMeetAtATcpAddressAndReduceTogether() throws Exception {
    String port = String.valueOf(RankProcesses.freePort());
    try (RankProcesses ranks = RankProcesses.start(SummingRank.class, 3, port, "3")) {
      for (int rank = 0; rank < 3; rank++) {
        assertThat(ranks.exitStatus(rank)).as(ranks.output(rank)).isZero();
        assertThat(ranks.output(rank)).contains("sum 6");
      }
    }
  }

  @Test
  void aKilledProcessFailsTheOthersWhichNameIt() throws Exception {
    String port = String.valueOf(RankProcesses.freePort());
    try (RankProcesses ranks = RankProcesses.start(SummingRank.class, 3, port, "3", "for ever")) {
      for (int rank = 0; rank < 3; rank++) {
        ranks.awaitOutput(rank, "sum 6");
      }
      ranks.kill(2);
      for (int rank = 0; rank < 2; rank++) {
        assertThat(ranks.exitStatus(rank)).isNotZero();
        assertThat(ranks.output(rank)).contains("failed CONNECTION_RESET rank 2");
      }
    }
  }

  @Test
  void ranksThatDoNotComeAreNamed() {
    try (HashStore store = new HashStore()) {
      assertThatThrownBy(
              () ->
                  ProcessGroups.create(
                      store.withTimeout(Duration.ofMillis(200)), 1, 3, GroupOptions.defaults()))
          .isInstanceOf(CollectiveTimeoutException.class)
          .hasMessageContaining("2 of 3 ranks have not arrived: [0, 2]");
    }
  }

  @Test
  void ranksOfDifferentWorldSizesAreToldSo() {
    try (HashStore store = new HashStore()) {
      GroupOptions options = GroupOptions.defaults().withName("uneven");
      store.withPrefix("uneven").set("rendezvous/size", new byte[] {'4'});
      assertThatThrownBy(() -> ProcessGroups.create(store, 0, 3, options))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("world size of 3")
          .hasMessageContaining("with 4");
    }
  }

  @Test
  void aRankIsTakenOnce() {
    try (HashStore store = new HashStore()) {
      GroupOptions options = GroupOptions.defaults().withName("taken");
      RankThreads.run(
          1,
          rank -> {
            try (ProcessGroup group = ProcessGroups.create(store, 0, 1, options)) {
              assertThatThrownBy(() -> ProcessGroups.create(store, 0, 1, options))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("Rank 0 of group \"taken\" is taken already");
              assertThat(group.size()).isEqualTo(1);
            }
            return null;
          });
    }
  }

  @Test
  void groupsLeaveNoKeysInTheStore() {
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          3,
          rank -> {
            GroupOptions options = GroupOptions.defaults().withName("g");
            try (ProcessGroup group = ProcessGroups.create(store, rank, 3, options)) {
              group.store().set("mine/" + rank, new byte[1]);
              group.barrier().await();
            }
            return null;
          });
      assertThat(store.listKeys()).isEmpty();
    }
  }

  @Test
  void severalGroupsOverOneStoreAreKeptApart() {
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          2,
          rank -> {
            GroupOptions options = GroupOptions.defaults();
            try (ProcessGroup first = ProcessGroups.create(store, rank, 2, options);
                ProcessGroup second = ProcessGroups.create(store, rank, 2, options)) {
              assertThat(first.name()).isNotEqualTo(second.name());
              int[] a = {1};
              int[] b = {10};
              Work workB = second.allReduce(Tensor.of(b), ReduceOp.SUM);
              first.allReduce(Tensor.of(a), ReduceOp.SUM).await();
              workB.await();
              assertThat(a[0]).isEqualTo(2);
              assertThat(b[0]).isEqualTo(20);
            }
            return null;
          });
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "tcp://127.0.0.1?rank=0&world_size=1; port number missing",
        "tcp://127.0.0.1:1?world_size=1; rank parameter missing",
        "tcp://127.0.0.1:1?rank=0; world_size parameter missing",
        "tcp://127.0.0.1:1?rank=0&rank=1&world_size=2; rank is given twice",
        "tcp://127.0.0.1:1?rank=2&world_size=2; rank must be 0 to world_size - 1",
        "tcp://127.0.0.1:1?rank=x&world_size=2; rank is not a number: x",
        "pigeon://roof?rank=0&world_size=2; No rendezvous handler for pigeon://",
      })
  void aUrlThatLacksSomethingIsRefusedWithWhatItLacks(String url, String reason) {
    assertThatThrownBy(() -> Rendezvous.join(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }
}

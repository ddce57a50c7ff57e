package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;
import org.sparkcollectives.testing.SeveralNodes;

/**
 * Tests what the ranks of a group must agree on when they make it, and what it leaves in the store.
 */
@ExtendWith(LeakCheck.class)
class GroupCreationTest {

  @Test
  void ranksOfDifferentWorldSizesAreToldSo() {
    try (HashStore store = new HashStore()) {
      GroupOptions options = GroupOptions.defaults().withName("uneven");
      store.withPrefix("uneven").set("rendezvous/terms", new byte[] {'4'});
      assertThatThrownBy(() -> ProcessGroups.create(store, 0, 3, options))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("world size of 3")
          .hasMessageContaining("did with a world size of 4");
    }
  }

  /**
   * Checks the settings by which ranks choose algorithms: with different ones they would wait for
   * each other in vain.
   */
  @Test
  void aRankWhoseChoicesWouldDifferIsToldSo() {
    assertThatRankIsRefused(
        GroupOptions.defaults(),
        "spark.collectives.cost=" + SeveralNodes.profile("latency=1ms", "mesh=2"),
        "with spark.collectives.cost of [latency=PT0.001S, ");
    assertThatRankIsRefused(
        GroupOptions.defaults(),
        "spark.collectives.tcp.connections=2",
        "with spark.collectives.tcp.connections of 2, but another rank did with"
            + " spark.collectives.tcp.connections of auto");
    assertThatRankIsRefused(
        GroupOptions.defaults(),
        "tuning.stripeBytes=2m",
        "with stripes of 2097152 bytes, but another rank did with stripes of 1048576 bytes");
    assertThatRankIsRefused(
        GroupOptions.defaults(),
        "spark.collectives.algorithm=RingAllReduce",
        "with spark.collectives.algorithm of [RingAllReduce], but another rank did with"
            + " spark.collectives.algorithm of [auto]");
    assertThatRankIsRefused(
        GroupOptions.defaults().withTransports("tcp"),
        "spark.collectives.transports=heap,shm,tcp",
        "over the transports [tcp], but another rank did over the transports [heap, shm, tcp]");
    assertThatRankIsRefused(
        GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL),
        "spark.port.maxRetries=17",
        "debug level DETAIL at all ranks, but another rank did with debug level DETAIL at no rank");
  }

  private static void assertThatRankIsRefused(
      GroupOptions options, String setting, String message) {
    try (HashStore store = new HashStore()) {
      Store hasty = store.withTimeout(Duration.ofMillis(100));
      RankContext plain = new HostedRank(List.of(), TransportSecurity.plain());
      RankContext other = new HostedRank(List.of(setting), TransportSecurity.plain());
      GroupOptions named = GroupOptions.defaults().withName("unlike");
      // A rank's claim stays when it has waited in vain.
      assertThatThrownBy(() -> HostedGroups.create(hasty, 0, 2, named, plain))
          .isInstanceOf(CollectiveTimeoutException.class);
      assertThatThrownBy(() -> HostedGroups.create(store, 1, 2, options.withName("unlike"), other))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("Rank 1 joins group \"unlike\" ")
          .hasMessageContaining(message)
          .hasMessageContaining("All ranks must give the same");
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
}

package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/**
 * Specifies the options of every way to make groups from a group, and the refusal of those that do
 * not fit.
 */
interface SubgroupOptionsContract extends GroupSums {

  @Test
  default void everyWayOfMakingGroupsTakesOptions() {
    ranks(
        4,
        world -> {
          GroupOptions options =
              GroupOptions.defaults()
                  .withName("mine")
                  .withDescription("a part")
                  .withTimeout(Duration.ofMinutes(4));
          int[][] halves = {{0, 1}, {2, 3}};
          for (ProcessGroup made :
              List.of(
                  world.newSubgroups(2, options),
                  world.newSubgroups(List.of(halves), options),
                  world.split(world.rank() / 2, 0, options))) {
            try (made) {
              assertThat(made.name()).startsWith(world.name() + "/").endsWith("/mine");
              assertThat(made.description()).isEqualTo("a part");
              assertThat(made.timeout()).isEqualTo(Duration.ofMinutes(4));
              assertThat(sum(made, world)).isEqualTo(world.rank() < 2 ? 1 : 5);
            }
          }
          return null;
        });
  }

  @Test
  default void aShrunkGroupTakesOptions() {
    ranks(
        3,
        world -> {
          if (world.rank() == 1) {
            return null;
          }
          GroupOptions options =
              GroupOptions.defaults().withDescription("two").withTimeout(Duration.ofMinutes(4));
          ProcessGroup rest = world.shrink(new int[] {1}, ShrinkMode.DEFAULT, options);
          assertThat(rest.description()).isEqualTo("two");
          assertThat(rest.timeout()).isEqualTo(Duration.ofMinutes(4));
          assertThat(sum(rest, world)).isEqualTo(2);
          assertThat(world.isFailed()).isFalse();
          return null;
        });
  }

  @Test
  default void aShrinkThatAbortsEndsWhatWaitsForAnExcludedRank() {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch wentOn = new CountDownLatch(2);
    ranks(
        3,
        world -> {
          if (world.rank() == 1) {
            // The rank hangs, as far as the others can see, until they have gone on without it.
            wentOn.await();
            return null;
          }
          Work waiting = world.allReduce(Tensor.of(1));
          // A shrink ends the group of the other rank, too, which then begins nothing any more.
          begun.countDown();
          begun.await();
          ProcessGroup rest =
              world.shrink(new int[] {1}, ShrinkMode.ABORT, GroupOptions.defaults());
          assertThatThrownBy(waiting::await)
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("ShrinkMode.ABORT");
          assertThat(world.isFailed()).isTrue();
          assertThat(sum(rest, world)).isEqualTo(2);
          wentOn.countDown();
          return null;
        });
  }

  @Test
  default void optionsThatNameRanksAreRefusedWhereTheCallSaysWhoIsIn() {
    ranks(
        2,
        world -> {
          GroupOptions named = GroupOptions.defaults().withRanks(0);
          GroupOptions local = GroupOptions.defaults().withLocalSynchronization(true);
          assertThatThrownBy(() -> world.split(0, 0, named))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the options name the ranks [0]");
          assertThatThrownBy(() -> world.newSubgroups(1, named)).hasMessageContaining("withRanks");
          assertThatThrownBy(() -> world.newLocalGroup(named)).hasMessageContaining("withRanks");
          assertThatThrownBy(() -> world.split(0, 0, local))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("withLocalSynchronization is for newGroup");
          assertThat(sum(world, world)).isEqualTo(1);
          return null;
        });
  }

  @Test
  default void aSplitWithOptionsThatDifferIsRefusedOnEveryRank() {
    ranks(
        2,
        world -> {
          DebugLevel level = world.rank() == 0 ? DebugLevel.OFF : DebugLevel.DETAIL;
          GroupOptions options = GroupOptions.defaults().withDebugLevel(level);
          assertThatThrownBy(() -> world.split(0, 0, options))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("rank 1 gave other transports or another debug level");
          assertThat(sum(world.split(0, 0), world)).isEqualTo(1);
          return null;
        });
  }

  @Test
  default void aShrinkNamesEachRankOnceAndByItsRankInTheGroup() {
    ranks(
        4,
        world -> {
          assertThatThrownBy(() -> world.shrink(2, 2))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("rank 2 is excluded twice");
          ProcessGroup upper = world.newGroup(2, 3);
          if (upper != null) {
            assertThatThrownBy(() -> upper.shrink(3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rank 3 is out of bounds; valid ranks are 0 to 1")
                .hasMessageContaining("global rank 3 has rank 1");
          }
          return null;
        });
  }

  @Test
  default void theRanksOfAHostHaveAGroup() {
    ranks(
        4,
        world -> {
          ProcessGroup host = world.newLocalGroup();
          assertThat(host.size()).isEqualTo(world.localSize());
          assertThat(host.rank()).isEqualTo(world.localRank());
          assertThat(host.localRank()).isEqualTo(host.rank());
          assertThat(world.hosts()).hasSize(4).doesNotContain("");
          // All ranks of a test are on this machine.
          assertThat(world.localSize()).isEqualTo(4);
          assertThat(world.localRank()).isEqualTo(world.rank());
          assertThat(sum(host, world)).isEqualTo(6);
          ProcessGroup odd = world.newGroup(3, 1);
          if (odd != null) {
            assertThat(odd.localSize()).isEqualTo(2);
            assertThat(odd.localRank()).isEqualTo(odd.rank());
          }
          return null;
        });
  }
}

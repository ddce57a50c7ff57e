package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Specifies how related groups end, and what remains. */
interface GroupEndsContract extends GroupSums {

  @Test
  default void aFailedGroupShrinksToTheRanksThatRemain() {
    ranks(
        4,
        world -> {
          if (world.rank() == 2) {
            world.abort(new IllegalStateException("rank 2 is broken"));
            return null;
          }
          assertThatThrownBy(() -> sum(world, world)).isInstanceOf(PeerFailedException.class);
          assertThatThrownBy(() -> world.newGroup()).isInstanceOf(PeerFailedException.class);
          ProcessGroup rest = world.shrink(2);
          assertThat(rest.globalRanks()).containsExactly(0, 1, 3);
          assertThat(sum(rest, world)).isEqualTo(4);
          return null;
        });
  }

  @Test
  default void aRankThatLeftTheGroupThatAnotherWasMadeFromIsNotWaitedFor() {
    ranks(
        3,
        world -> {
          if (world.rank() == 2) {
            return null;
          }
          ProcessGroup group = world.newGroup();
          assertThatThrownBy(() -> sum(group, world))
              .isInstanceOf(PeerFailedException.class)
              .hasMessageContaining("rank 2")
              .hasMessageContaining("has finished");
          return null;
        });
  }

  @Test
  default void shrinkRefusesWhatMakesNoSense() {
    ranks(
        2,
        world -> {
          assertThatThrownBy(world::shrink).hasMessageContaining("at least one rank");
          assertThatThrownBy(() -> world.shrink(5)).hasMessageContaining("rank 5 is out of bounds");
          assertThatThrownBy(() -> world.shrink(0, 1)).hasMessageContaining("all 2 ranks");
          assertThatThrownBy(() -> world.shrink(world.rank())).hasMessageContaining("this rank");
          assertThat(sum(world, world)).isEqualTo(1);
          return null;
        });
  }

  @Test
  default void anAbortEndsTheGroupsMadeFromAGroupButAnotherFailureOfItDoesNot() {
    ranks(
        3,
        world -> {
          ProcessGroup pair = world.newGroup(0, 1);
          ProcessGroup all = world.newGroup();
          world.barrier().await();
          if (world.rank() == 2) {
            all.abort(new IllegalStateException("only this one"));
            assertThat(sum(world, world)).isEqualTo(3);
            world.store().set("2 is done", new byte[0]);
            return null;
          }
          assertThatThrownBy(() -> sum(all, world)).hasMessageContaining("only this one");
          assertThat(sum(pair, world)).isEqualTo(1);
          assertThat(sum(world, world)).isEqualTo(3);
          if (world.rank() == 1) {
            world.store().set("1 is done", new byte[0]);
          } else {
            world.store().multiGet(List.of("1 is done", "2 is done"));
            world.abort(new IllegalStateException("the task has failed"));
          }
          assertThatThrownBy(() -> sum(pair, world)).hasMessageContaining("the task has failed");
          return null;
        });
  }

  @Test
  default void closingAGroupClosesThoseMadeFromIt() {
    List<ProcessGroup> left =
        ranks(
            2,
            world -> {
              ProcessGroup group = world.newGroup();
              return group.newGroup();
            });
    assertThatThrownBy(() -> left.get(0).barrier())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is closed");
  }

  @Test
  default void closingAViewOrTheStoreClosesNothing() {
    ranks(
        2,
        world -> {
          try (ProcessGroup view = world.withTimeout(Duration.ofMinutes(1))) {
            assertThat(view.name()).isEqualTo(world.name());
            assertThat(sum(view, world)).isEqualTo(1);
          }
          world.store().close();
          world.store().set("rank " + world.rank(), new byte[0]);
          world.store().multiGet(List.of("rank 0", "rank 1"));
          assertThat(sum(world, world)).isEqualTo(1);
          return null;
        });
  }

  @Test
  default void aGroupThatHasEndedStillTellsOfItself() {
    // An abort ends what other ranks are still in.
    CountDownLatch made = new CountDownLatch(2);
    ranks(
        2,
        world -> {
          assertThat(sum(world, world)).isEqualTo(1);
          ProcessGroup group = world.newGroup();
          made.countDown();
          made.await();
          world.abort(new IllegalStateException("first"));
          world.abort(new IllegalStateException("second"));
          assertThatThrownBy(() -> sum(world, world)).hasMessageContaining("first");
          assertThat(world.rank()).isEqualTo(world.groupRank(world.rank()));
          assertThat(world.size()).isEqualTo(2);
          assertThat(world.backend()).isEqualTo("cpu:netty");
          assertThat(world.groups()).extracting(ProcessGroup::name).containsExactly(group.name());
          assertThat(world.flightRecorder().records()).isNotEmpty();
          world.close();
          assertThat(world.flightRecorder().records()).isNotEmpty();
          assertThat(world.name()).isNotEmpty();
          return null;
        });
  }

  @Test
  default void manyGroupsAreMadeAndClosed() {
    ranks(
        3,
        world -> {
          for (int i = 0; i < 20; i++) {
            int[] members =
                IntStream.range(0, 3).map(rank -> (rank + world.size()) % 3).sorted().toArray();
            try (ProcessGroup group = world.newGroup(members)) {
              assertThat(sum(group, world)).isEqualTo(Arrays.stream(members).sum());
            }
          }
          assertThat(world.groups()).isEmpty();
          return null;
        });
  }
}

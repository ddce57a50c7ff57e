package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Specifies what the handles of a group have in common, and what they report of its end. */
interface GroupHandlesContract extends GroupSums {

  @Test
  default void aGroupThatIsLookedUpIsAViewWhoseCloseDoesNothing() {
    ranks(
        2,
        world -> {
          ProcessGroup group = world.newGroup();
          try (ProcessGroup found = world.group(group.name());
              ProcessGroup listed = world.groups().get(0)) {
            assertThat(sum(found, world)).isEqualTo(1);
            assertThat(sum(listed, world)).isEqualTo(1);
          }
          world.group(world.name()).close();
          assertThat(sum(group, world)).isEqualTo(1);
          assertThat(sum(world, world)).isEqualTo(1);
          group.close();
          assertThat(world.groups()).isEmpty();
          return null;
        });
  }

  @Test
  default void handlesOfOneGroupAreEqualAndThoseOfOthersAreNot() {
    List<ProcessGroup> worlds =
        ranks(
            2,
            world -> {
              ProcessGroup first = world.newGroup();
              ProcessGroup second = world.newGroup();
              ProcessGroup view = first.withTimeout(Duration.ofMinutes(3));
              assertThat(first)
                  .isEqualTo(world.group(first.name()))
                  .isEqualTo(view)
                  .hasSameHashCodeAs(view)
                  .isNotEqualTo(second)
                  .isNotEqualTo(world);
              assertThat(world.groups()).containsExactly(first, second);
              return world;
            });
    assertThat(worlds.get(0)).isNotEqualTo(worlds.get(1));
  }

  @Test
  default void aGroupTellsWhetherAndWhyItHasFailed() {
    CountDownLatch allSawItWell = new CountDownLatch(3);
    ranks(
        3,
        world -> {
          assertThat(world.isFailed()).isFalse();
          assertThat(world.failure()).isEmpty();
          allSawItWell.countDown();
          allSawItWell.await();
          if (world.rank() == 1) {
            world.abort(new IllegalStateException("rank 1 is broken"));
          }
          assertThatThrownBy(() -> sum(world, world)).isInstanceOf(CollectiveException.class);
          for (ProcessGroup handle : List.of(world, world.withTimeout(Duration.ofMinutes(1)))) {
            assertThat(handle.isFailed()).isTrue();
            Failure failure = handle.failure().orElseThrow();
            assertThat(failure.rank()).isEqualTo(1);
            assertThat(failure.kind()).isEqualTo(Failure.Kind.EXCEPTION);
            assertThat(failure.cause()).contains("rank 1 is broken");
          }
          return null;
        });
  }

  @Test
  default void aGroupThatWasClosedInGoodOrderHasNotFailed() {
    List<ProcessGroup> closed = ranks(2, world -> world);
    assertThat(closed).noneMatch(ProcessGroup::isFailed);
    assertThat(closed).allSatisfy(group -> assertThat(group.failure()).isEmpty());
  }

  @Test
  default void theNanCheckIsTurnedOnAndOffWhileTheGroupLives() {
    ranks(
        2,
        world -> {
          ProcessGroup view = world.withTimeout(Duration.ofMinutes(1));
          Tensor bad = Tensor.of(1, Float.NaN);
          world.allReduce(bad).await();
          view.setNanCheck(true);
          assertThatThrownBy(() -> world.allReduce(bad))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("is not a number");
          assertThatThrownBy(() -> view.send(bad, 1 - world.rank()))
              .hasMessageContaining("is not a number");
          world.setNanCheck(false);
          view.allReduce(bad).await();
          return null;
        });
  }

  @Test
  default void whatIsNotGivenIsAsInC10d() {
    ranks(
        2,
        world -> {
          int other = 1 - world.rank();
          ProcessGroup view = world.withTimeout(Duration.ofMinutes(1));
          for (ProcessGroup group : List.of(world, view)) {
            int[] sum = {world.rank() + 1};
            group.allReduce(Tensor.of(sum)).await();
            assertThat(sum).containsExactly(3);
            int[] atRoot = {world.rank() + 1};
            group.reduce(Tensor.of(atRoot), 0).await();
            assertThat(atRoot[0]).isEqualTo(world.rank() == 0 ? 3 : 2);
            int[] part = new int[1];
            group.reduceScatter(Tensor.of(part), Tensor.of(1, 2)).await();
            assertThat(part).containsExactly(2 * (world.rank() + 1));
            group.reduceScatter(Tensor.of(part), List.of(Tensor.of(5), Tensor.of(6))).await();
            assertThat(part).containsExactly(2 * (world.rank() + 5));
            group.monitoredBarrier();

            int[] received = new int[1];
            Work sent = group.send(Tensor.of(world.rank()), other);
            group.recv(Tensor.of(received), other, 0).await();
            sent.await();
            assertThat(received).containsExactly(other);
            sent = group.send(Tensor.of(7 + world.rank()), other, 0);
            Work any = group.recvAny(Tensor.of(received));
            any.await();
            sent.await();
            assertThat(received).containsExactly(7 + other);
            assertThat(any.sourceRank()).isEqualTo(other);
            group
                .batch(
                    List.of(
                        P2POp.send(Tensor.of(20 + world.rank()), other),
                        P2POp.recv(Tensor.of(received), other)))
                .forEach(Work::await);
            assertThat(received).containsExactly(20 + other);
            if (world.rank() == 0) {
              group.objects().send("hello", 1);
            } else {
              assertThat(group.objects().<String>recv(0)).isEqualTo("hello");
            }
          }
          return null;
        });
  }

  @Test
  default void theGroupsMemoryHasAShapeIfAsked() {
    ranks(
        2,
        world -> {
          Tensor matrix = world.allocate(DType.FLOAT32, 3, 4);
          assertThat(matrix.shape()).containsExactly(3, 4);
          assertThat(world.allocate(DType.FLOAT32, 12).shape()).containsExactly(12);
          assertThat(world.allocate(DType.FLOAT32, new long[0]).shape()).isEmpty();
          world.allReduce(matrix).await();
          return null;
        });
  }
}

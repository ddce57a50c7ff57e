package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Groups made from groups, over every path between ranks. */
@ExtendWith(LeakCheck.class)
abstract class GroupsContractTest {

  /** The paths under test. */
  abstract GroupOptions options();

  /** What hosts one rank. */
  RankContext context(int rank) {
    return RankContext.process();
  }

  private <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, options(), this::context, body);
  }

  /** The global ranks that a group sums up. */
  private static int sum(ProcessGroup group, ProcessGroup world) {
    int[] value = {world.rank()};
    group.allReduce(Tensor.of(value), ReduceOp.SUM).await();
    return value[0];
  }

  @Test
  void aGroupMadeFromAViewHasItsTimeout() {
    ranks(
        2,
        group -> {
          ProcessGroup view = group.withTimeout(Duration.ofMinutes(7));
          try (ProcessGroup made = view.newGroup();
              ProcessGroup split = view.split(0, 0)) {
            assertThat(made.timeout()).isEqualTo(Duration.ofMinutes(7));
            assertThat(split.timeout()).isEqualTo(Duration.ofMinutes(7));
          }
          GroupOptions other = GroupOptions.defaults().withTimeout(Duration.ofMinutes(3));
          try (ProcessGroup made = view.newGroup(other)) {
            assertThat(made.timeout()).isEqualTo(Duration.ofMinutes(3));
          }
          return null;
        });
  }

  @Test
  void namesAndTimeoutsThatCannotBeAreRefusedAtOnce() {
    ranks(
        2,
        group -> {
          assertThatThrownBy(
                  () -> group.newGroup(GroupOptions.defaults().withName("x".repeat(3000))))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("bytes long; the most is 2000");
          assertThatThrownBy(() -> group.withTimeout(Duration.ofSeconds(Long.MAX_VALUE)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("10000 days at the most");
          group.withTimeout(GroupOptions.LONGEST_TIMEOUT).barrier().await();
          return null;
        });
  }

  @Test
  void aGroupHasItsMembersInTheOrderGivenAndOthersGetNull() {
    ranks(
        4,
        world -> {
          ProcessGroup group = world.newGroup(3, 0, 2);
          if (world.rank() == 1) {
            assertThat(group).isNull();
            return null;
          }
          assertThat(group.size()).isEqualTo(3);
          assertThat(group.globalRanks()).containsExactly(3, 0, 2);
          assertThat(group.globalRank(0)).isEqualTo(3);
          assertThat(group.groupRank(world.rank())).isEqualTo(group.rank());
          assertThatThrownBy(() -> group.groupRank(1))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("Global rank 1 is not in group");
          assertThat(sum(group, world)).isEqualTo(5);
          int[] first = {world.rank()};
          group.broadcast(Tensor.of(first), 0).await();
          assertThat(first[0]).isEqualTo(3);
          return null;
        });
  }

  @Test
  void optionsComeFromTheGroupThatItIsMadeFromUnlessGiven() {
    ranks(
        2,
        world -> {
          ProcessGroup plain = world.newGroup();
          assertThat(plain.timeout()).isEqualTo(world.timeout());
          assertThat(plain.backend()).isEqualTo(world.backend()).isEqualTo("cpu:netty");
          ProcessGroup other =
              world.newGroup(
                  GroupOptions.defaults()
                      .withTimeout(Duration.ofSeconds(7))
                      .withName("model")
                      .withDescription("the model's own"));
          assertThat(other.timeout()).isEqualTo(Duration.ofSeconds(7));
          assertThat(other.description()).isEqualTo("the model's own");
          assertThat(other.name()).startsWith(world.name() + "/").endsWith("/model");
          assertThat(plain.name()).isNotEqualTo(other.name());
          return null;
        });
  }

  @Test
  void severalGroupsWorkAtTheSameTimeInAnyOrder() {
    ranks(
        4,
        world -> {
          ProcessGroup low = world.newGroup();
          ProcessGroup high = world.newGroup();
          int[] a = {1};
          int[] b = {10};
          int[] c = {100};
          List<Work> works = new ArrayList<>();
          // Each rank begins with another one of the three.
          for (int i = 0; i < 3; i++) {
            works.add(
                switch ((i + world.rank()) % 3) {
                  case 0 -> low.allReduce(Tensor.of(a), ReduceOp.SUM);
                  case 1 -> high.allReduce(Tensor.of(b), ReduceOp.SUM);
                  default -> world.allReduce(Tensor.of(c), ReduceOp.SUM);
                });
          }
          works.forEach(Work::await);
          assertThat(List.of(a[0], b[0], c[0])).containsExactly(4, 40, 400);
          return null;
        });
  }

  @Test
  void groupsNestAndTranslateRanksToTheWorld() {
    ranks(
        4,
        world -> {
          ProcessGroup odd = world.newGroup(3, 1);
          if (odd == null) {
            return null;
          }
          ProcessGroup nested = odd.newGroup(1, 3);
          assertThat(nested.globalRanks()).containsExactly(1, 3);
          assertThat(nested.rank()).isEqualTo(world.rank() / 2);
          assertThat(sum(nested, world)).isEqualTo(4);
          assertThat(world.group(nested.name()).globalRanks()).containsExactly(1, 3);
          assertThat(world.groups()).hasSize(1);
          assertThat(odd.groups()).hasSize(1);
          assertThatThrownBy(() -> world.group("nope"))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("registered under the name \"nope\"")
              .hasMessageContaining(nested.name());
          nested.close();
          assertThat(odd.groups()).isEmpty();
          return null;
        });
  }

  @Test
  void withLocalSynchronisationTheMembersAloneCall() {
    ranks(
        4,
        world -> {
          GroupOptions local = GroupOptions.defaults().withLocalSynchronization(true);
          if (world.rank() >= 2) {
            for (int i = 0; i < 2; i++) {
              ProcessGroup pair = world.newGroup(local.withRanks(2, 3));
              assertThat(sum(pair, world)).isEqualTo(5);
            }
            assertThat(world.newGroup(local.withRanks(0, 1))).isNull();
          }
          // Names have not diverged.
          assertThat(sum(world.newGroup(), world)).isEqualTo(6);
          return null;
        });
  }

  @Test
  void neighboursFormGroupsOfEqualSize() {
    ranks(
        4,
        world -> {
          assertThat(sum(world.newSubgroups(2), world)).isEqualTo(world.rank() < 2 ? 1 : 5);
          for (int wrong : new int[] {0, 3, 5}) {
            assertThatThrownBy(() -> world.newSubgroups(wrong))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rank " + world.rank())
                .hasMessageContaining("(" + wrong + ")");
          }
          return null;
        });
  }

  @Test
  void groupsAreMadeByEnumeration() {
    ranks(
        4,
        world -> {
          ProcessGroup mine = world.newSubgroups(List.of(new int[] {2, 0}, new int[] {3}));
          assertThat(mine == null).isEqualTo(world.rank() == 1);
          if (mine != null) {
            assertThat(sum(mine, world)).isEqualTo(world.rank() == 3 ? 3 : 2);
          }
          assertThatThrownBy(() -> world.newSubgroups(List.of(new int[] {0, 1}, new int[] {1, 2})))
              .hasMessageContaining("rank 1 has appeared in both [0, 1] and [1, 2]");
          assertThatThrownBy(() -> world.newSubgroups(List.of()))
              .hasMessageContaining("cannot be empty");
          return null;
        });
  }

  @Test
  void aSplitOrdersRanksByKeyAndThenByRank() {
    ranks(
        5,
        world -> {
          ProcessGroup group = world.split(world.rank() % 2, -world.rank());
          assertThat(group.globalRanks())
              .containsExactly(world.rank() % 2 == 0 ? new int[] {4, 2, 0} : new int[] {3, 1});
          ProcessGroup tie = world.split(7, 1);
          assertThat(tie.globalRanks()).containsExactly(0, 1, 2, 3, 4);
          ProcessGroup none = world.split(world.rank() == 3 ? -1 : 0, 0);
          assertThat(none == null).isEqualTo(world.rank() == 3);
          assertThat(sum(group, world)).isEqualTo(world.rank() % 2 == 0 ? 6 : 4);
          return null;
        });
  }

  @Test
  void wrongMembersAreRefusedAndNamesStayInStep() {
    ranks(
        3,
        world -> {
          if (world.rank() == 1) {
            assertThatThrownBy(() -> world.newGroup(1, 1))
                .hasMessageContaining("must not contain duplicate entries, got [1, 1]");
            assertThatThrownBy(() -> world.newGroup(9))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rank 9 is not in this group");
          }
          assertThat(sum(world.newGroup(), world)).isEqualTo(3);
          return null;
        });
  }

  @Test
  void ranksThatNameOtherMembersAreToldAndTheNextGroupWorks() {
    List<Boolean> refused =
        ranks(
            3,
            world -> {
              boolean failed = false;
              try {
                world.newGroup(world.rank() == 2 ? new int[] {1, 2} : new int[] {0, 1, 2});
              } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageContaining("another rank made it of ranks");
                failed = true;
              }
              assertThat(sum(world.newGroup(2, 1, 0), world)).isEqualTo(3);
              return failed;
            });
    assertThat(refused).contains(true);
  }

  @Test
  void ranksWhoseOptionsDoNotFitAreToldAndTheNextGroupWorks() {
    List<Boolean> refused =
        ranks(
            3,
            world -> {
              DebugLevel level = world.rank() == 2 ? DebugLevel.DETAIL : DebugLevel.OFF;
              boolean failed = false;
              try {
                world.newGroup(GroupOptions.defaults().withDebugLevel(level));
              } catch (IllegalArgumentException e) {
                assertThat(e)
                    .hasMessageContaining("but another rank made it with debug level DETAIL at");
                failed = true;
              }
              assertThat(sum(world.newGroup(2, 1, 0), world)).isEqualTo(3);
              return failed;
            });
    assertThat(refused).contains(true);
  }

  @Test
  void aFailedGroupShrinksToTheRanksThatRemain() {
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
  void aRankThatLeftTheGroupThatAnotherWasMadeFromIsNotWaitedFor() {
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
  void groupsOfOneNameOverDifferentStoresHaveNothingToDoWithEachOther() {
    GroupOptions named = options().withName("model");
    ranks(
        2,
        world -> {
          // Each rank is alone in a world of its own.
          try (HashStore store = new HashStore();
              ProcessGroup alone = ProcessGroups.create(store, 0, 1, named)) {
            world.barrier().await();
            assertThat(sum(alone, world)).isEqualTo(world.rank());
            world.barrier().await();
          }
          return null;
        });
  }

  @Test
  void shrinkRefusesWhatMakesNoSense() {
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
  void anAbortEndsTheGroupsMadeFromAGroupButAnotherFailureOfItDoesNot() {
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
  void closingAGroupClosesThoseMadeFromIt() {
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
  void closingAViewOrTheStoreClosesNothing() {
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
  void aGroupThatHasEndedStillTellsOfItself() {
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
  void manyGroupsAreMadeAndClosed() {
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

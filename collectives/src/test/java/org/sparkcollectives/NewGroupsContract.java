package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.store.HashStore;

/** Specifies groups made from groups: their members, names and options. */
interface NewGroupsContract extends GroupSums {

  @Test
  default void aGroupMadeFromAViewHasItsTimeout() {
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
  default void namesAndTimeoutsThatCannotBeAreRefusedAtOnce() {
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
  default void aGroupHasItsMembersInTheOrderGivenAndOthersGetNull() {
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
  default void optionsComeFromTheGroupThatItIsMadeFromUnlessGiven() {
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
  default void severalGroupsWorkAtTheSameTimeInAnyOrder() {
    ranks(
        4,
        world -> {
          ProcessGroup low = world.newGroup();
          ProcessGroup high = world.newGroup();
          int[] a = {1};
          int[] b = {10};
          int[] c = {100};
          List<Work> works = new ArrayList<>();
          // Each rank begins with another of the three.
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
  default void groupsNestAndTranslateRanksToTheWorld() {
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
  default void withLocalSynchronisationTheMembersAloneCall() {
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
          // The counters in the names have not diverged.
          assertThat(sum(world.newGroup(), world)).isEqualTo(6);
          return null;
        });
  }

  @Test
  default void neighboursFormGroupsOfEqualSize() {
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
  default void groupsAreMadeByEnumeration() {
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
  default void aSplitOrdersRanksByKeyAndThenByRank() {
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
  default void wrongMembersAreRefusedAndNamesStayInStep() {
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
  default void ranksThatNameOtherMembersAreToldAndTheNextGroupWorks() {
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
  default void ranksWhoseOptionsDoNotFitAreToldAndTheNextGroupWorks() {
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
  default void groupsOfOneNameOverDifferentStoresHaveNothingToDoWithEachOther() {
    GroupOptions named = GroupOptions.defaults().withName("model");
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
}

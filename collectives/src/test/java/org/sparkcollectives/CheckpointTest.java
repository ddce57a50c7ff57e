package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.WatchableStore;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Tests state that outlives a group: it is complete or absent, whatever happens to its ranks. */
@ExtendWith(LeakCheck.class)
class CheckpointTest {

  private static final int SIZE = 3;

  private final HashStore store = new HashStore();
  private int attempts;

  @AfterEach
  void close() {
    store.close();
  }

  private <T> List<T> group(int size, GroupRuns.Body<T> body) {
    GroupOptions named = GroupOptions.defaults().withName("attempt-" + ++attempts);
    return GroupRuns.run(store, size, named, rank -> RankContext.process(), body);
  }

  /** Returns a rank's own part: its rank, and the step. */
  private static List<Tensor> state(ProcessGroup group, int step) {
    return List.of(Tensor.of((double) group.rank(), step), Tensor.of(step));
  }

  private static void keep(ProcessGroup group, int step) {
    group.checkpoint("model", state(group, step));
  }

  /** Returns the step that all restored parts are of; -1 if nothing was kept. */
  private static int restore(ProcessGroup group) {
    double[] values = {-1, -1};
    int[] step = {-1};
    if (!group.restore("model", List.of(Tensor.of(values), Tensor.of(step)))) {
      assertThat(values).containsExactly(-1, -1);
      return -1;
    }
    assertThat(values).containsExactly(group.rank(), step[0]);
    return step[0];
  }

  private List<String> partsOfVersions() {
    return store.listKeys().stream()
        .filter(key -> key.contains("/part/") && key.endsWith("/layout"))
        .map(key -> key.replaceAll(".*/part/|/layout", ""))
        .sorted()
        .toList();
  }

  @Test
  void theNextGroupGetsWhatTheLastOneKeptLast() {
    assertThat(group(SIZE, CheckpointTest::restore)).containsOnly(-1);
    group(
        SIZE,
        group -> {
          for (int step = 1; step <= 4; step++) {
            keep(group, step);
          }
          return null;
        });
    assertThat(group(SIZE, CheckpointTest::restore)).containsOnly(4);
    assertThat(partsOfVersions()).containsExactly("0/3", "0/4", "1/3", "1/4", "2/3", "2/4");
  }

  @Test
  void replicatedStateIsKeptOnceAndFitsGroupsOfAnySize() {
    group(
        SIZE,
        group -> {
          group.checkpointReplicated("model", List.of(Tensor.of(1.5, 2.5), Tensor.of(new int[0])));
          return null;
        });
    assertThat(partsOfVersions()).containsExactly("0/1");
    for (int size : new int[] {1, 2, SIZE, 5}) {
      group(
          size,
          group -> {
            double[] values = new double[2];
            assertThat(group.restore("model", List.of(Tensor.of(values), Tensor.of(new int[0]))))
                .isTrue();
            assertThat(values).containsExactly(1.5, 2.5);
            return null;
          });
    }
  }

  @Test
  void partsOfAnotherNumberOfRanksAreRefusedOnEveryRank() {
    group(
        SIZE,
        group -> {
          keep(group, 1);
          return null;
        });
    group(
        2,
        group -> {
          assertThatThrownBy(() -> restore(group))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("version 1 was taken by 3 ranks")
              .hasMessageContaining("cannot be dealt to 2")
              .hasMessageContaining("checkpointReplicated");
          group.barrier().await();
          return null;
        });
  }

  /** The points of a group's second checkpoint at which rank 0 or 1 dies. */
  private enum Death {
    BEFORE_IT_WRITES(1, true, "multiSet", "/part/1/", 1, 1),
    AFTER_IT_WROTE(1, false, "multiSet", "/part/1/", 1, 1),
    BEFORE_IT_COMMITS(0, true, "compareSet", "/committed", 2, 1),
    /**
     * Dies after the commit. Its second compareSet of the key commits, because the first returned
     * the version before.
     */
    AFTER_IT_COMMITTED(0, false, "compareSet", "/committed", 2, 2),
    WHILE_IT_CLEANS_UP(0, true, "listKeys", "", 1, 2);

    final int rank;
    final boolean before;
    final String method;
    final String key;
    final int call;
    final int survives;

    Death(int rank, boolean before, String method, String key, int call, int survives) {
      this.rank = rank;
      this.before = before;
      this.method = method;
      this.key = key;
      this.call = call;
      this.survives = survives;
    }

    FaultyStore.Fault fault(boolean isBefore) {
      AtomicInteger calls = new AtomicInteger();
      return (called, argument) -> {
        if (isBefore == before
            && called.equals(method)
            && argument.contains(key)
            && calls.incrementAndGet() == call) {
          throw new Died();
        }
      };
    }
  }

  private static final class Died extends Error {
    private static final long serialVersionUID = 1;
  }

  @ParameterizedTest
  @EnumSource
  void aRankThatDiesInTheMiddleLeavesTheVersionBeforeOrTheNewOneOnAllRanks(Death death) {
    group(
        SIZE,
        group -> {
          keep(group, 1);
          return null;
        });
    WatchableStore deadly = FaultyStore.over(store, death.fault(true), death.fault(false));
    RankThreads.run(
        SIZE,
        rank -> {
          ProcessGroup world =
              ProcessGroups.create(
                  rank == death.rank ? deadly : store, rank, SIZE, GroupOptions.defaults());
          try {
            if (rank == death.rank) {
              assertThatThrownBy(() -> keep(world, 2)).isInstanceOf(Died.class);
              world.abort(new IllegalStateException("it is dead"));
            } else {
              keepThoughOneDies(world, death == Death.WHILE_IT_CLEANS_UP);
            }
          } finally {
            world.close();
          }
          return null;
        });
    group(
        SIZE,
        group -> {
          assertThat(restore(group)).isEqualTo(death.survives);
          keep(group, 3);
          keep(group, 4);
          return null;
        });
    assertThat(group(SIZE, CheckpointTest::restore)).containsOnly(4);
    assertThat(partsOfVersions()).as("nothing of torn versions").hasSize(2 * SIZE);
  }

  /**
   * Keeps a checkpoint during which a rank dies. Whether the others learn of the commit or of the
   * death first is a matter of chance.
   */
  private static void keepThoughOneDies(ProcessGroup world, boolean mayBeKept) {
    try {
      keep(world, 2);
      assertThat(mayBeKept).as("kept, though a rank is dead").isTrue();
    } catch (CollectiveException e) {
      assertThat(e).hasMessageContaining("it is dead");
    }
  }

  @Test
  void whatTheStoreRefusesOneRankIsKeptOnNoneAndTheGroupGoesOn() {
    WatchableStore full =
        FaultyStore.over(
            store,
            (method, argument) -> {
              if (argument.contains("/part/1/2/")) {
                throw new StoreException("no room");
              }
            },
            FaultyStore.NONE);
    RankThreads.run(
        SIZE,
        rank -> {
          try (ProcessGroup world =
              ProcessGroups.create(rank == 1 ? full : store, rank, SIZE, GroupOptions.defaults())) {
            keep(world, 1);
            assertThatThrownBy(() -> keep(world, 2))
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("checkpoint \"model\" of group")
                .hasMessageContaining(
                    rank == 1
                        ? "could not write its part: no room"
                        : "ranks [1] could not write its part");
            assertThat(restore(world)).isEqualTo(1);
            keep(world, 3);
            assertThat(restore(world)).isEqualTo(3);
          }
          return null;
        });
    assertThat(partsOfVersions()).containsExactly("0/1", "0/3", "1/1", "1/3", "2/1", "2/3");
  }

  @Test
  void tensorsOfOtherTypesOrShapesAreNamedAndNoneIsOverwritten() {
    group(
        SIZE,
        group -> {
          keep(group, 1);
          int[] step = {-1};
          Tensor values = Tensor.of(new double[2]);
          boolean wrong = group.rank() == 2;
          List<Tensor> tensors = List.of(wrong ? values.reshape(1, 2) : values, Tensor.of(step));
          assertThatThrownBy(() -> group.restore("model", tensors))
              .isInstanceOf(wrong ? IllegalArgumentException.class : CollectiveException.class)
              .hasMessageContaining(
                  wrong
                      ? "tensor 0 is float64[2] in it, and float64[1, 2] is given"
                      : "ranks [2] could not find in it what is to be restored");
          assertThat(step).containsExactly(-1);
          assertThat(restore(group)).isEqualTo(1);
          return null;
        });
  }

  @Test
  void ranksThatMakeDifferentCallsAreToldSoAndTheGroupGoesOn() {
    group(
        SIZE,
        group -> {
          String own = group.rank() == 1 ? "optimizer" : "model";
          assertThatThrownBy(() -> group.checkpoint(own, state(group, 1)))
              .isInstanceOf(CollectiveMismatchException.class)
              .hasMessageContaining(group.rank() == 1 ? "ranks [0, 2]" : "ranks [1]");
          assertThatThrownBy(
                  () ->
                      group.checkpointReplicated(
                          "model", List.of(Tensor.of(new int[group.rank() / 2]))))
              .isInstanceOf(CollectiveMismatchException.class);
          assertThat(restore(group)).isEqualTo(-1);
          return null;
        });
  }

  @Test
  void namesAndGroupsHaveCheckpointsOfTheirOwn() {
    List<String> names = List.of("a", "a/b", "a%2Fb", "part", "ü ", "committed");
    group(
        SIZE,
        group -> {
          ProcessGroup pair = group.newGroup(0, 2);
          for (String name : names) {
            group.checkpointReplicated(name, List.of(Tensor.of(names.indexOf(name))));
            if (pair != null) {
              pair.checkpointReplicated(name, List.of(Tensor.of(100 + names.indexOf(name))));
            }
          }
          return null;
        });
    group(
        SIZE,
        group -> {
          ProcessGroup pair = group.newGroup(0, 2);
          ProcessGroup rest = group.rank() == 1 ? null : group.shrink(1);
          for (String name : names) {
            int[] value = {-1};
            assertThat(group.restore(name, List.of(Tensor.of(value)))).isTrue();
            assertThat(value).containsExactly(names.indexOf(name));
            if (pair != null) {
              assertThat(pair.restore(name, List.of(Tensor.of(value)))).isTrue();
              assertThat(value).containsExactly(100 + names.indexOf(name));
              assertThat(rest.restore(name, List.of(Tensor.of(value)))).isTrue();
              assertThat(value).as("of the group that shrank").containsExactly(names.indexOf(name));
            }
          }
          return null;
        });
  }

  @Test
  void ranksThatWaitAreToldOfAnAbortAndOfADeadline() {
    group(
        SIZE,
        group -> {
          if (group.rank() == 0) {
            group.abort(new IllegalStateException("enough"));
          } else {
            assertThatThrownBy(() -> keep(group, 1))
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("enough");
          }
          return null;
        });
    CountDownLatch late = new CountDownLatch(1);
    group(
        2,
        group -> {
          if (group.rank() == 0) {
            late.await();
          } else {
            assertThatThrownBy(() -> keep(group.withTimeout(Duration.ofMillis(50)), 1))
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("rank 0");
            late.countDown();
          }
          return null;
        });
  }

  @Test
  void whatIsNoNameOrTensorIsRefusedBeforeAnyRankIsAsked() {
    group(
        1,
        group -> {
          List<Tensor> none = List.of();
          for (String wrong : new String[] {"", "x".repeat(1025)}) {
            assertThatThrownBy(() -> group.checkpoint(wrong, none))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the name must have 1 to 1024 bytes");
            assertThatThrownBy(() -> group.restore(wrong, none))
                .isInstanceOf(IllegalArgumentException.class);
          }
          assertThatThrownBy(() -> group.checkpointReplicated(null, none))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("checkpoint-replicated")
              .hasMessageContaining("the name is null");
          assertThatThrownBy(() -> group.restore("x", null))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the list of tensors is null");
          group.checkpoint("x", none);
          assertThat(group.restore("x", none)).isTrue();
          return null;
        });
  }
}

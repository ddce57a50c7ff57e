package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreTimeoutException;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Tests what ranks learn of each other where the store answers, but not always in time. */
@ExtendWith(LeakCheck.class)
class SlowStoreTest {

  private static final Duration LATE = Duration.ofSeconds(1);

  /** Delays the answers that rank 0 writes for too long. */
  private static void delayOwnAnswers(String method, String keys) {
    if (method.matches("set|multiSet") && keys.matches("\\[?.*progress/(answer|stack)/\\d+/0.*")) {
      throw new StoreTimeoutException("slow", List.of(), LATE);
    }
  }

  /** Delays the answers that rank 0 reads for too long. */
  private static void delayAnswersOfOthers(String method, String keys) {
    if (method.equals("waitFor") && keys.contains("progress/answer/")) {
      List<String> each = List.of(keys.substring(1, keys.length() - 1).split(", "));
      throw new StoreTimeoutException("slow", each, LATE);
    }
  }

  @Test
  void theMissingRankIsNamedThoughTheStoreDidNotTakeThisRanksOwnAnswer() {
    CollectiveTimeoutException late = timeoutOfRankZero(SlowStoreTest::delayOwnAnswers);
    assertThat(late.missingRanks()).as(late.getMessage()).containsExactly(2);
  }

  @Test
  void noRankIsNamedWhereTheStoreGaveNoAnswerAtAll() {
    CollectiveTimeoutException late =
        timeoutOfRankZero(
            (method, keys) -> {
              delayOwnAnswers(method, keys);
              delayAnswersOfOthers(method, keys);
            });
    assertThat(late.missingRanks()).as(late.getMessage()).isEmpty();
    assertThat(late).hasMessageContaining("which ranks have not arrived is not known");
  }

  /** The late rank learns of the failure first, and closes its connections. */
  @Test
  void aTimeoutIsReportedAsOneThoughTheLateRankLeavesBeforeThisRankHasFailed() {
    CountDownLatch left = new CountDownLatch(1);
    CountDownLatch asked = new CountDownLatch(1);
    FaultyStore.Fault slow =
        (method, key) -> {
          if (method.matches("compareSet|check") && key.matches(".*/failure\\]?")) {
            await(left, Duration.ofSeconds(30));
            await(asked, Duration.ofMillis(500));
          } else if (method.equals("check") && key.contains("/departures")) {
            asked.countDown();
          }
        };
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          2,
          rank -> {
            Store own = rank == 0 ? FaultyStore.over(store, FaultyStore.NONE, slow) : store;
            GroupOptions tcp = GroupOptions.defaults().withTransports("tcp");
            try (ProcessGroup world = ProcessGroups.create(own, rank, 2, tcp)) {
              world.barrier().await();
              if (rank == 0) {
                assertThatThrownBy(
                        () -> world.withTimeout(Duration.ofMillis(500)).barrier().await())
                    .isInstanceOf(CollectiveTimeoutException.class);
              } else {
                Eventually.holds(world::isFailed, () -> "the group does not fail");
              }
              assertThat(world.failure().orElseThrow().kind()).isEqualTo(Failure.Kind.TIMEOUT);
            } finally {
              left.countDown();
            }
            return null;
          });
    }
  }

  private static void await(CountDownLatch latch, Duration atMost) {
    try {
      latch.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Returns the exception of rank 0, whose store has this fault, from a barrier that rank 1 calls
   * and rank 2 does not.
   */
  private static CollectiveTimeoutException timeoutOfRankZero(FaultyStore.Fault fault) {
    CompletableFuture<CollectiveTimeoutException> thrown = new CompletableFuture<>();
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          3,
          rank -> {
            Store own = rank == 0 ? FaultyStore.over(store, fault, FaultyStore.NONE) : store;
            try (ProcessGroup world =
                ProcessGroups.create(own, rank, 3, GroupOptions.defaults().withName("world"))) {
              if (rank == 0) {
                thrown.complete(
                    catchThrowableOfType(
                        CollectiveTimeoutException.class,
                        () -> world.withTimeout(Duration.ofMillis(500)).barrier().await()));
              } else if (rank == 1) {
                Work waiting = world.barrier();
                assertThat(waiting.isCompleted()).isFalse();
              }
              thrown.get(50, TimeUnit.SECONDS);
            }
            return null;
          });
    }
    return thrown.join();
  }
}

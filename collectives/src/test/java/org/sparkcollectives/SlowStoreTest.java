package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreTimeoutException;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Tests what ranks learn of each other where the store answers, but not always in time. */
@ExtendWith(LeakCheck.class)
class SlowStoreTest {

  @Test
  void theMissingRankIsNamedThoughTheStoreDidNotTakeThisRanksOwnAnswer() {
    FaultyStore.Fault slow =
        (method, key) -> {
          if (method.matches("set|multiSet")
              && key.matches("\\[?.*progress/(answer|stack)/\\d+/0.*")) {
            throw new StoreTimeoutException("slow", List.of(), Duration.ofSeconds(1));
          }
        };
    CountDownLatch over = new CountDownLatch(1);
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          3,
          rank -> {
            Store own = rank == 0 ? FaultyStore.over(store, slow, FaultyStore.NONE) : store;
            try (ProcessGroup world =
                ProcessGroups.create(own, rank, 3, GroupOptions.defaults().withName("world"))) {
              if (rank == 0) {
                CollectiveTimeoutException late =
                    catchThrowableOfType(
                        CollectiveTimeoutException.class,
                        () -> world.withTimeout(Duration.ofMillis(500)).barrier().await());
                over.countDown();
                assertThat(late.missingRanks()).as(late.getMessage()).containsExactly(2);
              } else {
                if (rank == 1) {
                  Work waiting = world.barrier();
                  assertThat(waiting.isCompleted()).isFalse();
                }
                assertThat(over.await(50, TimeUnit.SECONDS)).isTrue();
              }
            }
            return null;
          });
    }
  }
}

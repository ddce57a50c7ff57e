package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;

/** Specifies a monitored barrier, beside collectives over every path. */
interface MonitoredBarrierContract extends RanksUnderTest {

  @Test
  default void aMonitoredBarrierNamesAllRanksThatDoNotCome() {
    try (HashStore store = new HashStore()) {
      ranks(
          store,
          4,
          group -> {
            group.monitoredBarrier(Duration.ofSeconds(30), false);
            if (group.rank() == 0) {
              // A busy machine may delay rank 2's call for longer than the barrier waits.
              Eventually.holds(
                  () -> store.listKeys().stream().anyMatch(key -> key.endsWith("/1/rank-2")),
                  () -> "rank 2 does not come");
            }
            if (group.rank() == 0 || group.rank() == 2) {
              assertThatThrownBy(() -> group.monitoredBarrier(Duration.ofMillis(200), true))
                  .isInstanceOf(CollectiveTimeoutException.class)
                  .hasMessageContaining("rank 1 (")
                  .hasMessageContaining("rank 3 (")
                  .extracting(e -> ((CollectiveTimeoutException) e).missingRanks())
                  .isEqualTo(new int[] {1, 3});
            }
            // The group goes on.
            group.barrier().await();
            return null;
          });
    }
  }

  @Test
  default void aMonitoredBarrierNamesTheFirstRankThatDoesNotCome() {
    ranks(
        3,
        group -> {
          if (group.rank() == 0) {
            assertThatThrownBy(() -> group.monitoredBarrier(Duration.ofMillis(200), false))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("rank 1 (");
          }
          group.barrier().await();
          return null;
        });
  }
}

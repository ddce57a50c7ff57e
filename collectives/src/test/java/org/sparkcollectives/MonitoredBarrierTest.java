package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests what does not depend on the path, because a monitored barrier goes through the store. */
@ExtendWith(LeakCheck.class)
class MonitoredBarrierTest {

  @Test
  void rankZeroIsNamedIfItIsTheOneThatDoesNotCome() {
    GroupRuns.run(
        3,
        GroupOptions.defaults(),
        group -> {
          if (group.rank() != 0) {
            assertThatThrownBy(() -> group.monitoredBarrier(Duration.ofMillis(10), true))
                .isInstanceOfSatisfying(
                    CollectiveTimeoutException.class,
                    e -> {
                      assertThat(e).hasMessageContaining("rank 0 (");
                      assertThat(e.missingRanks()).containsExactly(0);
                      assertThat(e.operation()).isEqualTo("monitored-barrier");
                    });
          }
          group.barrier().await();
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"1,x", "2", "-1", "0,"})
  void aVerdictThatIsNoListOfRanksIsSaidToBeNone(String verdict) {
    try (HashStore store = new HashStore()) {
      GroupRuns.run(
          store,
          2,
          GroupOptions.defaults().withName("watched"),
          rank -> RankContext.process(),
          group -> {
            if (group.rank() == 1) {
              store
                  .withPrefix("watched")
                  .withPrefix("monitored-barrier/0")
                  .set("verdict", verdict.getBytes(StandardCharsets.UTF_8));
              assertThatThrownBy(() -> group.monitoredBarrier(Duration.ofSeconds(30), true))
                  .isExactlyInstanceOf(CollectiveException.class)
                  .hasMessageContaining("monitored-barrier #0")
                  .hasMessageContaining("what rank 0 says of the 2 ranks in the store is no list");
            }
            group.barrier().await();
            return null;
          });
    }
  }

  @Test
  void itTakesNoNumberOfACollective() {
    GroupRuns.run(
        3,
        GroupOptions.defaults(),
        group -> {
          for (int i = 0; i < 5; i++) {
            group.monitoredBarrier(Duration.ofSeconds(30), true);
          }
          Work work = group.barrier();
          work.await();
          assertThat(work.sequenceNumber()).isZero();
          for (Duration wrong : new Duration[] {Duration.ZERO, Duration.ofSeconds(-1)}) {
            assertThatThrownBy(() -> group.monitoredBarrier(wrong, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be more than zero");
          }
          return null;
        });
  }
}

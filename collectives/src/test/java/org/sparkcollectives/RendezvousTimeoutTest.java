package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;

/** Tests how long a group waits for ranks that do not come, or for a store that does not answer. */
@ExtendWith(LeakCheck.class)
class RendezvousTimeoutTest {

  @Test
  void ranksThatDoNotComeAreNamed() {
    try (HashStore store = new HashStore()) {
      assertThatThrownBy(
              () ->
                  ProcessGroups.create(
                      store.withTimeout(Duration.ofMillis(200)), 1, 3, GroupOptions.defaults()))
          .isInstanceOf(CollectiveTimeoutException.class)
          .hasMessageContaining("2 of 3 ranks have not arrived: [0, 2]");
    }
  }

  @Test
  void theGroupsTimeoutBoundsItsMakingWhereItIsLessThanTheStores() {
    GroupOptions hasty = GroupOptions.defaults().withTimeout(Duration.ofMillis(300));
    try (HashStore store = new HashStore()) {
      long start = System.nanoTime();
      assertThatThrownBy(() -> ProcessGroups.create(store, 1, 3, hasty))
          .isInstanceOfSatisfying(
              CollectiveTimeoutException.class,
              e -> assertThat(e.missingRanks()).containsExactly(0, 2))
          .hasMessageContaining("after 0.3 s: 2 of 3 ranks have not arrived: [0, 2]");
      // It is less than the five minutes of the store.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
    }
  }

  @Test
  void theGroupsTimeoutBoundsTheSearchForAStoreThatNobodyServes() throws Exception {
    GroupOptions hasty = GroupOptions.defaults().withTimeout(Duration.ofMillis(300));
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    long start = System.nanoTime();
    assertThatThrownBy(() -> Rendezvous.join(url, 1, 2, hasty))
        .isInstanceOf(StoreConnectionException.class)
        .hasMessageContaining("Rank 1 does not reach rank 0");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
  }

  @Test
  void theRankThatServesTheStoreTellsTheOthersThatItHasGivenUp() throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    Duration[] timeouts = {Duration.ofSeconds(2), Duration.ofMinutes(2)};
    RankThreads.run(
        2,
        rank -> {
          GroupOptions options = GroupOptions.defaults().withTimeout(timeouts[rank]);
          if (rank == 0) {
            assertThatThrownBy(() -> Rendezvous.join(url, 0, 3, options))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("1 of 3 ranks have not arrived: [2]");
          } else {
            assertThatThrownBy(() -> Rendezvous.join(url, 1, 3, options))
                .isInstanceOfSatisfying(
                    PeerFailedException.class, e -> assertThat(e.failure().rank()).isZero())
                .hasMessageContaining("1 of 3 ranks have not arrived: [2]");
          }
          return null;
        });
  }

  /** Checks a client that is silent, as if its host were cut off. */
  @Test
  void aRendezvousThatHasFailedDoesNotWaitForAClientThatStays() throws Exception {
    int port = RankProcesses.freePort();
    GroupOptions hasty = GroupOptions.defaults().withTimeout(Duration.ofSeconds(2));
    Thread client =
        new Thread(
            () -> {
              try (Store store = TcpStore.connect("127.0.0.1", port, Duration.ofMinutes(1))) {
                assertThatThrownBy(() -> store.get("what nobody sets"))
                    .isInstanceOf(StoreConnectionException.class);
              }
            },
            "client");
    client.start();
    long start = System.nanoTime();
    assertThatThrownBy(() -> Rendezvous.join("tcp://127.0.0.1:" + port, 0, 2, hasty))
        .isInstanceOf(CollectiveTimeoutException.class);
    Duration silence =
        Configuration.ofSystemProperties().get(CollectivesConfiguration.HEARTBEAT_TIMEOUT);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(silence);
    client.join();
  }

  /**
   * Checks a store whose process hangs: it takes connections, and does not answer. Without a name
   * the first call asks for the group's number, with one it compares the ranks' settings.
   */
  @ParameterizedTest
  @ValueSource(strings = {"", "silent"})
  void theGroupsTimeoutBoundsItsMakingOverAStoreThatDoesNotAnswer(String name) {
    GroupOptions hasty = GroupOptions.defaults().withName(name).withTimeout(Duration.ofMillis(300));
    try (UnresponsiveStore store = new UnresponsiveStore()) {
      long start = System.nanoTime();
      assertThatThrownBy(() -> ProcessGroups.create(store, 1, 3, hasty))
          .isInstanceOf(StoreConnectionException.class)
          .hasMessageContaining("rank 1")
          .hasMessageContaining("which of the 3 ranks are missing is not known")
          .hasMessageContaining("did not answer");
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
    }
  }
}

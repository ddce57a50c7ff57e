package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Threads;

@ExtendWith(LeakCheck.class)
@Timeout(60)
class StoreCollectivesTest {

  private static final int SIZE = 3;
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(30);

  private final HashStore store = new HashStore();
  private final Threads threads = new Threads();

  @AfterEach
  void close() {
    threads.close();
    store.close();
  }

  private interface Body {
    void run(int rank, StoreCollectives collectives);
  }

  private void ranks(Body body) throws Exception {
    threads.runTogether(
        SIZE,
        rank -> {
          body.run(rank, new StoreCollectives(store, rank, SIZE));
          return null;
        });
  }

  private static byte[] bytes(int number) {
    return String.valueOf(number).getBytes(UTF_8);
  }

  @Test
  void whatOneRankSendsAllReceive() throws Exception {
    ranks(
        (rank, collectives) -> {
          if (rank == 1) {
            collectives.broadcastSend("b", bytes(42));
          } else {
            assertThat(collectives.broadcastRecv("b", LIMIT)).asString().isEqualTo("42");
          }
        });
  }

  @Test
  void whatAllRanksSendOneReceivesByRank() throws Exception {
    ranks(
        (rank, collectives) -> {
          if (rank == 1) {
            assertThat(collectives.gatherRecv("g", bytes(1), LIMIT))
                .containsExactly(bytes(0), bytes(1), bytes(2));
          } else {
            collectives.gatherSend("g", bytes(rank));
          }
        });
  }

  @Test
  void eachRankReceivesItsPart() throws Exception {
    ranks(
        (rank, collectives) -> {
          byte[] mine =
              rank == 2
                  ? collectives.scatterSend("s", List.of(bytes(10), bytes(11), bytes(12)))
                  : collectives.scatterRecv("s", LIMIT);
          assertThat(mine).isEqualTo(bytes(10 + rank));
        });
  }

  @Test
  void allRanksReceiveWhatAllHaveAndItsSum() throws Exception {
    ranks(
        (rank, collectives) -> {
          assertThat(collectives.allGather("all", bytes(rank), LIMIT))
              .containsExactly(bytes(0), bytes(1), bytes(2));
          assertThat(collectives.allSum("sum", rank - 5L, LIMIT)).isEqualTo(-12);
          collectives.barrier("end", LIMIT, true);
        });
  }

  @Test
  void whoIsMissingIsNamed() {
    StoreCollectives first = new StoreCollectives(store, 0, SIZE);
    new StoreCollectives(store, 2, SIZE).gatherSend("g", bytes(2));
    StoreTimeoutException timeout = timeoutOf(() -> first.gatherRecv("g", bytes(0), SHORT));
    assertThat(timeout.missingKeys()).containsExactly("g/1");
    assertThat(timeout)
        .hasMessage("gather \"g\" on rank 0 of 3 timed out after 30ms: rank 1 has not called it");
    new StoreCollectives(store, 2, SIZE).barrier("b", Duration.ZERO, false);
    assertThat(timeoutOf(() -> first.barrier("b", SHORT, true)))
        .hasMessageContaining("barrier \"b\" on rank 0 of 3")
        .hasMessageContaining("rank 1 has not called it");
    assertThat(timeoutOf(() -> first.allSum("s", 1, SHORT)))
        .hasMessageContaining("ranks 1, 2 have not called it");
    assertThat(timeoutOf(() -> first.allGather("a", bytes(1), SHORT)).missingKeys())
        .containsExactly("a/1", "a/2");
    assertThat(timeoutOf(() -> first.broadcastRecv("c", SHORT)))
        .hasMessageContaining("the rank that sends has not called it");
    first.barrier("not awaited", Duration.ZERO, false);
  }

  private static StoreTimeoutException timeoutOf(ThrowingCallable call) {
    return catchThrowableOfType(StoreTimeoutException.class, call);
  }

  @Test
  void theStepsOfACallHaveOneDeadlineEvenIfTheStoreIsSilent() {
    try (SilentStore silent = new SilentStore()) {
      StoreCollectives collectives = new StoreCollectives(silent, 0, SIZE);
      List<ThrowingCallable> calls =
          List.of(
              () -> collectives.barrier("barrier", SHORT, true),
              () -> collectives.broadcastRecv("broadcast", SHORT),
              () -> collectives.gatherRecv("gather", bytes(1), SHORT),
              () -> collectives.scatterRecv("scatter", SHORT),
              () -> collectives.allGather("all-gather", bytes(1), SHORT),
              () -> collectives.allSum("sum", 1, SHORT));
      for (ThrowingCallable call : calls) {
        long start = System.nanoTime();
        assertThatThrownBy(call).isInstanceOf(StoreConnectionException.class);
        // The store's own timeout is minutes.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
      }
    }
  }

  @Test
  void aSumThatDoesNotFitIsRefusedOnAllRanks() throws Exception {
    ranks(
        (rank, collectives) ->
            assertThatThrownBy(() -> collectives.allSum("s", Long.MAX_VALUE, LIMIT))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("64 bits"));
  }

  @Test
  void aKeyThatARankHasUsedIsRefused() {
    StoreCollectives alone = new StoreCollectives(store, 0, 1);
    alone.barrier("k", LIMIT, true);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> alone.allSum("k", 1, LIMIT))
        .withMessageContaining("k\"")
        .withMessageContaining("has already been used by rank 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> alone.scatterSend("s", List.of()))
        .withMessageContaining("one part for each of 1 ranks, not 0");
    assertThatIllegalArgumentException().isThrownBy(() -> new StoreCollectives(store, 1, 1));
  }
}

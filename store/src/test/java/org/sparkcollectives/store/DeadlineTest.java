package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A view with a deadline ends its calls by then, whether or not the store answers. */
class DeadlineTest {

  /** Every timeout that a store has by default is longer. */
  private static final Duration FAR_LESS_THAN_A_STORES_TIMEOUT = Duration.ofMinutes(1);

  private final HashStore store = new HashStore();

  @AfterEach
  void closeStore() {
    store.close();
  }

  private static void assertEndsEarly(Runnable call, Class<? extends Throwable> with) {
    long start = System.nanoTime();
    assertThatThrownBy(call::run).isInstanceOf(with);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isLessThan(FAR_LESS_THAN_A_STORES_TIMEOUT);
  }

  @Test
  void allWaitsOfACallEndByItsDeadline() {
    Deadline deadline = Deadline.after(Duration.ofMillis(100));
    Store view = deadline.bound(store.withPrefix("a"));
    assertEndsEarly(() -> view.get("never"), StoreTimeoutException.class);
    assertThat(deadline.isOver()).isTrue();
    assertEndsEarly(
        () -> view.withTimeout(Duration.ofHours(1)).get("never"), StoreTimeoutException.class);
    assertEndsEarly(
        () -> view.waitFor(List.of("never"), Duration.ofHours(1)), StoreTimeoutException.class);
    assertEndsEarly(
        () -> view.barrier("never", 2, Duration.ofHours(1)), StoreTimeoutException.class);
    assertEndsEarly(() -> view.queuePop("never", true), StoreTimeoutException.class);
    // A call that needs no wait succeeds even then.
    view.set("key", new byte[] {1});
    assertThat(view.get("key")).containsExactly(1);
    assertThat(store.table().waiterCount()).isZero();
  }

  @Test
  void theStoresOwnTimeoutCountsWhereItIsLess() {
    Store view =
        Deadline.after(Duration.ofHours(1)).bound(store.withTimeout(Duration.ofMillis(50)));
    assertThat(view.timeout()).isEqualTo(Duration.ofMillis(50));
    assertEndsEarly(() -> view.get("never"), StoreTimeoutException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 300})
  void aStoreThatDoesNotAnswerIsGivenUpSoonAfterTheDeadline(long millis) {
    try (SilentStore silent = new SilentStore()) {
      Store view = Deadline.after(Duration.ofMillis(millis)).bound(silent);
      assertEndsEarly(() -> view.set("key", new byte[0]), StoreConnectionException.class);
      assertEndsEarly(() -> view.get("key"), StoreConnectionException.class);
    }
  }
}

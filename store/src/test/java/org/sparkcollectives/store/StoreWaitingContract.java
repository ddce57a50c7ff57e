package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkcollectives.store.StoreUnderTest.bytes;
import static org.sparkcollectives.store.StoreUnderTest.timeoutOf;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.Threads;

/** The contract of waits for keys, and of how they end. */
interface StoreWaitingContract extends StoreUnderTest {

  @Test
  default void aGetWaitsForTheKey() throws Exception {
    Future<byte[]> value = threads().start(() -> store().get("k"));
    awaitParked(1);
    other().set("k", bytes("late"));
    assertThat(Threads.result(value)).asString().isEqualTo("late");
  }

  @Test
  default void aGetThatTimesOutNamesTheKeyAndTheTime() {
    StoreTimeoutException timeout = timeoutOf(() -> store().withTimeout(SHORT).get("nope"));
    assertThat(timeout).hasMessageContaining("nope\"").hasMessageContaining("after 30ms");
    assertThat(timeout.missingKeys()).containsExactly("nope");
    assertThat(timeout.waited()).isEqualTo(SHORT);
  }

  @Test
  default void aStoreIsUsableAfterATimeout() {
    assertThat(timeoutOf(() -> store().withTimeout(SHORT).get("k"))).isNotNull();
    store().set("k", bytes("v"));
    assertThat(store().get("k")).asString().isEqualTo("v");
  }

  @Test
  default void aTimeoutOfZeroStillFindsWhatIsThere() {
    store().set("k", bytes("v"));
    assertThat(store().withTimeout(Duration.ZERO).get("k")).asString().isEqualTo("v");
    assertThat(timeoutOf(() -> store().withTimeout(Duration.ZERO).get("nope"))).isNotNull();
  }

  @Test
  default void aWaitForNoKeysReturnsAtOnce() {
    store().waitFor(List.of(), Duration.ZERO);
  }

  @Test
  default void aWaitEndsWhenTheLastKeyComes() throws Exception {
    Future<Boolean> done =
        threads()
            .start(
                () -> {
                  store().waitFor(List.of("a", "b", "c"), Eventually.LIMIT);
                  return true;
                });
    awaitParked(1);
    other().set("b", bytes(""));
    other().set("c", bytes(""));
    assertThat(done.isDone()).isFalse();
    other().set("a", bytes(""));
    assertThat(Threads.result(done)).isTrue();
  }

  @Test
  default void aWaitWithoutATimeoutHasThatOfItsHandle() throws Exception {
    Store impatient = store().withTimeout(SHORT);
    StoreTimeoutException timeout = timeoutOf(() -> impatient.waitFor(List.of("nope")));
    assertThat(timeout.missingKeys()).containsExactly("nope");
    assertThat(timeout.waited()).isEqualTo(SHORT);
    Future<Boolean> done =
        threads()
            .start(
                () -> {
                  store().waitFor(List.of("late"));
                  return true;
                });
    awaitParked(1);
    other().set("late", bytes(""));
    assertThat(Threads.result(done)).isTrue();
  }

  @Test
  default void aWaitNamesTheMissingKeys() {
    store().set("there", bytes(""));
    StoreTimeoutException timeout =
        timeoutOf(() -> store().waitFor(List.of("nope", "there", "nope2"), SHORT));
    assertThat(timeout.missingKeys()).containsExactly("nope", "nope2");
    assertThat(timeout)
        .hasMessageContaining("nope\"")
        .hasMessageContaining("nope2\"")
        .hasMessageNotContaining("there\"");
  }

  @Test
  default void aKeyDeletedWhileOthersAreAwaitedIsAwaitedAgain() throws Exception {
    other().set("a", bytes(""));
    Future<List<byte[]>> values = threads().start(() -> store().multiGet(List.of("a", "b")));
    awaitParked(1);
    other().deleteKey("a");
    other().set("b", bytes("2"));
    awaitParked(1);
    other().set("a", bytes("1"));
    assertThat(Threads.result(values))
        .extracting(value -> new String(value, UTF_8))
        .containsExactly("1", "2");
  }

  @Test
  default void multiGetKeepsTheOrderAndWaits() throws Exception {
    store().set("a", bytes("1"));
    Future<List<byte[]>> values = threads().start(() -> store().multiGet(List.of("b", "a", "b")));
    awaitParked(1);
    other().set("b", bytes("2"));
    assertThat(Threads.result(values))
        .extracting(value -> new String(value, UTF_8))
        .containsExactly("2", "1", "2");
    assertThat(store().multiGet(List.of())).isEmpty();
  }

  @Test
  default void multiGetThatTimesOutNamesTheMissingKeys() {
    store().set("a", bytes(""));
    Store impatient = store().withTimeout(SHORT);
    StoreTimeoutException timeout =
        timeoutOf(() -> impatient.multiGet(List.of("a", "nope", "nope2")));
    assertThat(timeout.missingKeys()).containsExactly("nope", "nope2");
  }

  @Test
  default void anInterruptEndsAWaitAndStaysSet() throws Exception {
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    Future<Boolean> interrupted =
        threads()
            .start(
                () -> {
                  thread.complete(Thread.currentThread());
                  assertThatThrownBy(() -> store().get("nope"))
                      .isExactlyInstanceOf(StoreException.class)
                      .hasMessageContaining("interrupted");
                  return Thread.interrupted();
                });
    awaitParked(1);
    Threads.result(thread).interrupt();
    assertThat(Threads.result(interrupted)).isTrue();
    awaitParked(0);
    store().set("k", bytes("still usable"));
    assertThat(store().get("k")).asString().isEqualTo("still usable");
  }

  @Test
  default void aWatchCompletesWhenTheKeyComes() throws Exception {
    WatchableStore watchable = (WatchableStore) store();
    CompletableFuture<byte[]> watch = watchable.watch("k");
    CompletableFuture<byte[]> cancelled = watchable.watch("never");
    awaitParked(2);
    cancelled.cancel(false);
    awaitParked(1);
    assertThat(watch.isDone()).isFalse();
    other().set("k", bytes("v"));
    assertThat(Threads.result(watch)).asString().isEqualTo("v");
  }
}

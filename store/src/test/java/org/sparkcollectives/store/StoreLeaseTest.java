package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.Eventually;

/** Tests that a lease is a store like any other until it is revoked. */
class StoreLeaseTest extends StoreContractTest {

  private final StoreException cause = new StoreException("rank 2 is gone");

  private HashStore store;

  @Override
  protected Store create() {
    store = new HashStore();
    return StoreLease.of(store).store();
  }

  @Override
  protected Store createOther() {
    return StoreLease.of(store).store();
  }

  @Override
  protected StoreTable table() {
    return store.table();
  }

  @Override
  protected void destroy() {
    store.close();
  }

  /** A call that waits for somebody else. */
  private interface Call {
    void run(Store view);
  }

  static Stream<Call> waitingCalls() {
    return Stream.of(
        view -> view.get("never"),
        view -> view.multiGet(List.of("never", "ever")),
        view -> view.waitFor(List.of("never"), view.timeout()),
        view -> view.queuePop("never", true),
        view -> view.barrier("never", 2, view.timeout()));
  }

  @ParameterizedTest
  @MethodSource("waitingCalls")
  void revokingWakesTheCallsThatWaitAndFailsLaterOnes(Call call) throws Exception {
    StoreLease lease = StoreLease.of(new PrefixStore("a", store.withPrefix("b")));
    CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> call.run(lease.store()));
    Eventually.holds(() -> table().waiterCount() == 1, () -> "the call waits");

    lease.revoke(cause);

    assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(StoreException.class)
        .hasMessageContaining("rank 2 is gone");
    assertThatThrownBy(() -> lease.store().set("key", new byte[1]))
        .isInstanceOf(StoreException.class)
        .hasMessage("rank 2 is gone");
    assertThat(table().waiterCount()).isZero();
    assertThat(store.numKeys()).isLessThanOrEqualTo(1);
  }

  @ParameterizedTest
  @MethodSource("waitingCalls")
  void wakingEndsTheCallsThatWaitAndLaterOnesGoOn(Call call) throws Exception {
    StoreLease lease = StoreLease.of(new PrefixStore("a", store.withPrefix("b")));
    CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> call.run(lease.store()));
    Eventually.holds(() -> table().waiterCount() == 1, () -> "the call waits");

    lease.wake(cause);

    assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(StoreException.class)
        .hasMessageContaining("rank 2 is gone");
    assertThat(table().waiterCount()).isZero();
    lease.store().set("key", "value".getBytes(StandardCharsets.UTF_8));
    assertThat(lease.store().get("key")).asString().isEqualTo("value");
  }

  @Test
  void aCallOfOneWhoKnowsAlreadyIsNotWoken() throws Exception {
    AtomicBoolean known = new AtomicBoolean();
    StoreLease lease = StoreLease.of(store, known::get);
    CompletableFuture<byte[]> before =
        CompletableFuture.supplyAsync(
            () -> lease.store().get("key"), body -> new Thread(body).start());
    Eventually.holds(() -> table().waiterCount() == 1, () -> "the call waits");
    known.set(true);
    CompletableFuture<byte[]> after =
        CompletableFuture.supplyAsync(
            () -> lease.store().get("key"), body -> new Thread(body).start());
    Eventually.holds(() -> table().waiterCount() == 2, () -> "both wait");
    lease.wake(cause);
    assertThat(before).failsWithin(Eventually.LIMIT);
    store.set("key", new byte[] {7});
    assertThat(after.get(30, TimeUnit.SECONDS)).containsExactly(7);
  }

  @Test
  void theStoreAndItsOtherViewsGoOn() {
    StoreLease lease = StoreLease.of(store);
    lease.store().set("key", "value".getBytes(StandardCharsets.UTF_8));
    lease.revoke(cause);
    lease.revoke(new StoreException("again"));
    assertThat(store.get("key")).asString().isEqualTo("value");
    assertThat(StoreLease.of(store).store().get("key")).asString().isEqualTo("value");
  }

  @Test
  void whatIsPushedAfterwardsIsNotTakenByTheOneThatGaveUp() {
    StoreLease lease = StoreLease.of(store);
    CompletableFuture<byte[]> pop =
        CompletableFuture.supplyAsync(() -> lease.store().queuePop("queue", true));
    Eventually.holds(() -> table().waiterCount() == 1, () -> "the call waits");
    lease.revoke(cause);
    store.queuePush("queue", new byte[] {7});
    assertThat(store.queuePop("queue", false)).containsExactly(7);
    assertThat(pop).failsWithin(Eventually.LIMIT);
  }

  /** Tests with a store in which a call is about to start when its lease ends. */
  @Test
  void noCallReachesTheStoreAfterItsLeaseHasEnded() throws Exception {
    CountDownLatch starting = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    StoreLease lease = StoreLease.of(startingLate(starting, go));
    CompletableFuture<Void> call =
        CompletableFuture.runAsync(() -> lease.store().set("key", new byte[1]));
    starting.await();
    assertThat(lease.end(cause, Deadline.after(Duration.ofMillis(10)))).isFalse();
    assertThatThrownBy(() -> lease.store().set("later", new byte[1])).hasMessage("rank 2 is gone");
    go.countDown();
    assertThat(lease.end(cause, Deadline.after(Eventually.LIMIT))).isTrue();
    store.deleteKeys(store.listKeys());
    assertThat(call).as("it came before the end").succeedsWithin(Eventually.LIMIT);
    assertThat(store.listKeys()).isEmpty();
  }

  @Test
  void anInterruptedThreadEndsALeaseThatNobodyUses() {
    StoreLease lease = StoreLease.of(store);
    Thread.currentThread().interrupt();
    assertThat(lease.end(cause, Deadline.after(Eventually.LIMIT))).isTrue();
    assertThat(Thread.interrupted()).isTrue();
  }

  /** Returns a view of the store whose calls wait before they start. */
  private StoreHandle startingLate(CountDownLatch starting, CountDownLatch go) {
    return new StoreHandle(store.timeout()) {
      @Override
      PendingReply start(StoreRequest request) {
        starting.countDown();
        try {
          go.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
        return store.submit(request);
      }

      @Override
      String description() {
        return store.description();
      }

      @Override
      void release() {}
    };
  }
}

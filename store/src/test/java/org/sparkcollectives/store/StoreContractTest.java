package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Threads;

/** The contract that every kind of store fulfils; each kind runs it. */
@ExtendWith(LeakCheck.class)
@Timeout(120)
public abstract class StoreContractTest
    implements StoreValuesContract,
        StoreWaitingContract,
        StoreQueuesContract,
        StoreBarriersContract,
        StoreViewsContract,
        StoreStatisticsContract {

  private final Threads threads = new Threads();
  private Store store;
  private Store other;

  @Override
  public final Store store() {
    return store;
  }

  @Override
  public final Store other() {
    return other;
  }

  @Override
  public final Threads threads() {
    return threads;
  }

  /** Creates a store without data. */
  protected abstract Store create() throws Exception;

  /**
   * Returns another handle on the data of the store that was created last, or that store itself.
   */
  protected abstract Store createOther() throws Exception;

  /** Returns the table that holds the data of the store that was created last. */
  protected abstract StoreTable table();

  /** Closes the handle that owns the calls of the store that was created last. */
  protected void closeOwner() {
    store.close();
  }

  /** Frees what was created, after both stores were closed. */
  protected abstract void destroy() throws Exception;

  @BeforeEach
  void open() throws Exception {
    store = create();
    other = createOther();
  }

  @AfterEach
  void closeAll() throws Exception {
    int waiters = waiters();
    threads.close();
    closeOwner();
    other.close();
    destroy();
    assertThat(waiters).as("waiters left in the table").isZero();
  }

  /** Returns how many calls wait in the store that was created last. */
  protected int waiters() {
    return table().waiterCount();
  }

  @Override
  public final void awaitParked(int count) {
    Eventually.holds(
        () -> waiters() == count, () -> waiters() + " waiters parked instead of " + count);
  }

  @Test
  void closingWakesBlockedCallsAndRefusesMore() throws Exception {
    Store view = store.withPrefix("p").withTimeout(Duration.ofMinutes(2));
    List<Future<?>> blocked =
        List.of(
            threads.start(() -> store.get("nope")),
            threads.start(() -> view.queuePop("nope", true)),
            threads.start(
                () -> {
                  store.barrier("b", 2, Eventually.LIMIT);
                  return null;
                }),
            ((WatchableStore) store).watch("nope"));
    awaitParked(4);
    closeOwner();
    for (Future<?> call : blocked) {
      assertThat(Threads.failure(call))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
    closeOwner();
    assertThatThrownBy(() -> store.set("k", new byte[0])).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> view.get("k")).isInstanceOf(IllegalStateException.class);
    awaitParked(0);
  }
}

package org.sparkcollectives.store;

import java.time.Duration;

/** A view of a store for a caller that must be done by a deadline. Owns nothing. */
final class DeadlineView extends AbstractStore {

  /**
   * The time that a store still gets after the deadline to answer, for example to say what was
   * missing.
   */
  private static final Duration SHORTEST_GRACE = Duration.ofSeconds(1);

  private final AbstractStore store;
  private final Deadline deadline;

  DeadlineView(AbstractStore store, Deadline deadline) {
    super(store.timeout());
    this.store = store;
    this.deadline = deadline;
  }

  @Override
  PendingReply submit(StoreRequest request) {
    return store.submit(request);
  }

  @Override
  String description() {
    return store.description();
  }

  @Override
  StoreCounters counters() {
    return store.counters();
  }

  @Override
  Store underlying() {
    return store;
  }

  @Override
  Duration grace() {
    Duration left = deadline.left();
    return Deadline.smaller(
        store.grace(), left.compareTo(SHORTEST_GRACE) > 0 ? left : SHORTEST_GRACE);
  }

  @Override
  Duration bounded(Duration wanted) {
    return Deadline.smaller(store.bounded(wanted), deadline.left());
  }

  @Override
  public Store withTimeout(Duration timeout) {
    return deadline.bound(store.withTimeout(timeout));
  }

  @Override
  public Store withPrefix(String prefix) {
    return PrefixStore.of(prefix, this);
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return description();
  }
}

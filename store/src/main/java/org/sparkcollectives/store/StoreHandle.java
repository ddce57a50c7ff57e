package org.sparkcollectives.store;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A store that can be closed, with the calls that wait in it and in its views. */
abstract class StoreHandle extends AbstractStore {

  private final Set<PendingReply> inFlight = ConcurrentHashMap.newKeySet();
  private volatile RuntimeException ended;

  StoreHandle(Duration timeout) {
    super(timeout);
  }

  /** Starts {@code request}; does not block, and takes no array of it over. */
  abstract PendingReply start(StoreRequest request);

  /** Frees what this handle owns; called once. */
  abstract void release();

  @Override
  final PendingReply submit(StoreRequest request) {
    checkOpen();
    PendingReply pending = start(request);
    inFlight.add(pending);
    pending.whenComplete((reply, failure) -> inFlight.remove(pending));
    RuntimeException end = ended;
    if (end != null) {
      // end() may have looked before this one was there; then it is ended here.
      pending.completeExceptionally(end);
      if (pending.isCompletedExceptionally()) {
        throw StoreCall.here(end);
      }
    }
    return pending;
  }

  private void checkOpen() {
    RuntimeException end = ended;
    if (end != null) {
      throw StoreCall.here(end);
    }
  }

  final boolean isClosed() {
    return ended != null;
  }

  @Override
  public final Store withTimeout(Duration timeout) {
    return new StoreView(this, timeout);
  }

  @Override
  public final Store withPrefix(String prefix) {
    return PrefixStore.of(Objects.requireNonNull(prefix, "prefix"), this);
  }

  @Override
  public final void close() {
    end(new IllegalStateException(description() + " is closed"));
  }

  /** Fails the calls that wait, and all later ones, with copies of {@code cause}; then releases. */
  final void end(RuntimeException cause) {
    synchronized (inFlight) {
      if (ended != null) {
        return;
      }
      ended = cause;
    }
    inFlight.forEach(pending -> pending.completeExceptionally(cause));
    release();
  }

  @Override
  public final String toString() {
    return description();
  }
}

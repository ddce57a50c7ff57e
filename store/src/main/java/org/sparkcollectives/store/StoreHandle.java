package org.sparkcollectives.store;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A store that can be closed, with the calls that wait in it and in its views. */
abstract class StoreHandle extends AbstractStore {

  private final Set<PendingReply> inFlight = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

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
    if (closed) {
      // close() may have looked before this one was there; then it is ended here.
      pending.completeExceptionally(closedException());
      if (pending.isCompletedExceptionally()) {
        throw closedException();
      }
    }
    return pending;
  }

  private void checkOpen() {
    if (closed) {
      throw closedException();
    }
  }

  private IllegalStateException closedException() {
    return new IllegalStateException(description() + " is closed");
  }

  final boolean isClosed() {
    return closed;
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
    synchronized (inFlight) {
      if (closed) {
        return;
      }
      closed = true;
    }
    inFlight.forEach(pending -> pending.completeExceptionally(closedException()));
    release();
  }

  @Override
  public final String toString() {
    return description();
  }
}

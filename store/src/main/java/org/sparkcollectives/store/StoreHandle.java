package org.sparkcollectives.store;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** A store that can be closed, with the calls that wait in it and in its views. */
abstract class StoreHandle extends AbstractStore {

  /** The calls in progress, each with whether {@link #wake} ends it. */
  private final Map<PendingReply, Boolean> inFlight = new ConcurrentHashMap<>();

  private final StoreCounters counters = new StoreCounters();
  private volatile RuntimeException woken;
  private volatile RuntimeException ended;

  StoreHandle(Duration timeout) {
    super(timeout);
  }

  /** Starts {@code request}. Does not block. The arrays of the request stay the caller's. */
  abstract PendingReply start(StoreRequest request);

  /** Frees what this handle owns. Called once. */
  abstract void release();

  @Override
  StoreCounters counters() {
    return counters;
  }

  @Override
  final PendingReply submit(StoreRequest request) {
    checkOpen();
    boolean wakes = request.operation().waits() && woken == null && !isLate();
    PendingReply pending = start(request);
    inFlight.put(pending, wakes);
    pending.whenComplete((reply, failure) -> inFlight.remove(pending));
    RuntimeException early = woken;
    if (wakes && early != null) {
      // wake() may have run before this call was added.
      pending.completeExceptionally(early);
    }
    RuntimeException end = ended;
    if (end != null) {
      // end() may have run before this call was added; then the call is ended here.
      pending.completeExceptionally(end);
      if (pending.isCompletedExceptionally()) {
        throw StoreCall.here(end);
      }
    }
    return pending;
  }

  final void checkOpen() {
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

  /** Returns whether {@link #wake} no longer ends a call that begins now. */
  boolean isLate() {
    return false;
  }

  /**
   * Fails the calls that wait for a condition, not those that only wait for their answer, with
   * copies of {@code cause}. Later calls are not affected.
   */
  final void wake(RuntimeException cause) {
    woken = cause;
    inFlight.forEach(
        (pending, wakes) -> {
          if (wakes) {
            pending.completeExceptionally(cause);
          }
        });
  }

  /**
   * Fails the waiting calls, and all later ones, with copies of {@code cause}; then releases what
   * this handle owns.
   */
  final void end(RuntimeException cause) {
    synchronized (inFlight) {
      if (ended != null) {
        return;
      }
      ended = cause;
    }
    inFlight.keySet().forEach(pending -> pending.completeExceptionally(cause));
    release();
  }

  @Override
  public final String toString() {
    return description();
  }
}

package org.sparkcollectives.store;

import java.time.Duration;

/** A view of a store with another timeout. Owns nothing. */
final class StoreView extends AbstractStore {

  private final StoreHandle handle;

  StoreView(StoreHandle handle, Duration timeout) {
    super(timeout);
    this.handle = handle;
  }

  @Override
  PendingReply submit(StoreRequest request) {
    return handle.submit(request);
  }

  @Override
  String description() {
    return handle.description();
  }

  @Override
  StoreCounters counters() {
    return handle.counters();
  }

  @Override
  Store underlying() {
    return handle;
  }

  @Override
  public Store withTimeout(Duration timeout) {
    return new StoreView(handle, timeout);
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

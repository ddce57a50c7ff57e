package org.sparkcollectives.internal.liveness;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A time that passes when the test says so, or when a thread sleeps. */
public final class FakeTime implements TimeSource {

  private record Event(long nanos, Runnable action) {}

  private final AtomicLong nanos;
  private final List<Event> events = new ArrayList<>();

  public FakeTime(long nanos) {
    this.nanos = new AtomicLong(nanos);
  }

  @Override
  public long nanos() {
    return nanos.get();
  }

  @Override
  public void sleep(long duration) {
    pass(Duration.ofNanos(duration));
  }

  /** Runs an action once so much time has passed. */
  public void after(Duration duration, Runnable action) {
    events.add(new Event(nanos() + duration.toNanos(), action));
  }

  public void pass(Duration duration) {
    long now = nanos.addAndGet(duration.toNanos());
    List<Event> due = events.stream().filter(each -> now - each.nanos() >= 0).toList();
    events.removeAll(due);
    due.forEach(each -> each.action().run());
  }
}

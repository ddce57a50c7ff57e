package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.function.Consumer;
import org.sparkcollectives.store.Deadline;

/**
 * The time that a thread has for several waits together. Each wait is counted for as long as it
 * took; what the thread does in between is not counted. For one thread.
 */
public final class TimeBudget {

  /** What a wait gets at least, so that long waits before it do not cut off what is soon over. */
  private static final Duration LEAST = Duration.ofMillis(50);

  private Duration left;

  /** Creates a budget of which nothing is spent. */
  TimeBudget(Duration total) {
    this.left = total;
  }

  /** Runs a wait, which is to end by the deadline that it is given. */
  public void spend(Consumer<Deadline> wait) {
    long start = System.nanoTime();
    try {
      wait.accept(Deadline.after(left.compareTo(LEAST) > 0 ? left : LEAST));
    } finally {
      left = left.minusNanos(System.nanoTime() - start);
    }
  }
}

package org.sparkcollectives.internal.failure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.transport.Cancellation;

/**
 * Whether one rank's group has failed, and what its operations throw from then on.
 *
 * <p>The first failure stays: who chooses among several records has done so before {@link #fail}.
 */
public final class GroupFailure implements Cancellation {

  /** What the group ended with; the record is null where there is none. */
  private record Ending(Failure record, Function<String, CollectiveException> exceptionFor) {}

  private final AtomicReference<Ending> ending = new AtomicReference<>();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private final Runnable onInterrupt;

  /** With what is to be done when a waiting thread was interrupted. */
  public GroupFailure(Runnable onInterrupt) {
    this.onInterrupt = onInterrupt;
  }

  /**
   * Ends the group, unless it has ended.
   *
   * @param record which rank failed, and why; null where that is not known
   * @param exceptionFor makes the exception of an operation from the operation's description
   * @return whether this call ended it
   */
  public boolean fail(Failure record, Function<String, CollectiveException> exceptionFor) {
    if (!ending.compareAndSet(null, new Ending(record, exceptionFor))) {
      return false;
    }
    listeners.forEach(Runnable::run);
    return true;
  }

  /** Whether the group has failed. */
  public boolean failed() {
    return ending.get() != null;
  }

  /** The exception of an operation of the failed group. */
  public CollectiveException exceptionFor(String operation) {
    return ending.get().exceptionFor().apply(operation);
  }

  /** Returns which rank failed, and why; null while none has, or where that is not known. */
  public Failure record() {
    Ending end = ending.get();
    return end == null ? null : end.record();
  }

  /** Runs {@code listener}, which must not block, once when the group fails, or now if it has. */
  public void onFailure(Runnable listener) {
    AtomicReference<Runnable> once = new AtomicReference<>(listener);
    Runnable runOnce =
        () -> {
          Runnable first = once.getAndSet(null);
          if (first != null) {
            first.run();
          }
        };
    listeners.add(runOnce);
    if (failed()) {
      runOnce.run();
    }
  }

  @Override
  public void check() {
    Ending end = ending.get();
    if (end != null) {
      throw end.exceptionFor().apply("an operation");
    }
  }

  @Override
  public void interrupted() {
    onInterrupt.run();
  }
}

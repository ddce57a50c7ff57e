package org.sparkcollectives.life;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.watchdog.AbortPropagation;
import org.sparkcollectives.watchdog.GroupFailure;

/**
 * What follows from a failure that a rank notices, by the group's {@link ErrorHandling}: who is
 * told, and whether what hosts the rank fails with the group. Only the first one counts.
 */
final class FailureHandling {

  /** How long a task may take to end by itself: then the job's error is what it has thrown. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final ErrorHandling mode;
  private final AbortPropagation propagation;
  private final AtomicBoolean reported = new AtomicBoolean();

  FailureHandling(
      ErrorHandling mode, GroupFailure failure, AbortPropagation propagation, RankContext context) {
    this.mode = mode;
    this.propagation = propagation;
    if (mode.tearsDown()) {
      Duration patience = mode == ErrorHandling.SKIP_CLEAN_UP ? Duration.ZERO : PATIENCE;
      failure.onFailure(() -> context.tearDown(failure.exceptionFor("the task"), patience));
    }
  }

  /** Something has become of a rank, which concerns all. */
  void rankFailed(Failure record, Function<String, CollectiveException> local) {
    if (reported.compareAndSet(false, true)) {
      propagation.report(record, local);
    }
  }

  /** An operation has failed, or is overdue. */
  void operationFailed(Failure record, Function<String, CollectiveException> local) {
    if (reported.compareAndSet(false, true)) {
      if (mode.tellsOthers()) {
        propagation.report(record, local);
      } else {
        propagation.keep(record, local);
      }
    }
  }
}

package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankContext;

/**
 * What follows from a failure that a rank notices, by the group's {@link ErrorHandling}: who is
 * told, and whether what hosts the rank fails with the group. The first one counts, unless a later
 * one tells more of the first cause.
 */
final class FailureHandling {

  /** How long a task may take to end by itself: then the job's error is what it has thrown. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final ErrorHandling mode;
  private final AbortPropagation propagation;
  private final AtomicReference<Failure> reported = new AtomicReference<>();

  FailureHandling(
      ErrorHandling mode, GroupFailure failure, AbortPropagation propagation, RankContext context) {
    this.mode = mode;
    this.propagation = propagation;
    if (mode.tearsDown()) {
      Duration patience = mode == ErrorHandling.SKIP_CLEAN_UP ? Duration.ZERO : PATIENCE;
      failure.onFailure(() -> context.tearDown(failure.exceptionFor("the task"), patience));
    }
  }

  /**
   * Whether this is the first, or outranks those before it: a rank that refuses a message closes
   * its connection, and may hear of that end before it has said why.
   */
  private boolean tellsMore(Failure record) {
    while (true) {
      Failure before = reported.get();
      if (before != null && !record.outranks(before)) {
        return false;
      }
      if (reported.compareAndSet(before, record)) {
        return true;
      }
    }
  }

  /** Something has become of a rank, which concerns all. */
  void rankFailed(Failure record, Function<String, CollectiveException> local) {
    if (tellsMore(record)) {
      propagation.report(record, local);
    }
  }

  /** An operation has failed, or is overdue. */
  void operationFailed(Failure record, Function<String, CollectiveException> local) {
    if (tellsMore(record)) {
      if (mode.tellsOthers()) {
        propagation.report(record, local);
      } else {
        propagation.keep(record, local);
      }
    }
  }
}

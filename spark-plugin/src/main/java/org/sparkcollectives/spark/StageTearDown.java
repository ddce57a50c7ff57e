package org.sparkcollectives.spark;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of tasks whose group has failed with an {@link org.sparkcollectives.ErrorHandling} that
 * tears down: the driver kills them, with the first cause as the reason.
 *
 * <p>All ranks of a group ask for it, each with what it knows; the first one's reason counts. A
 * task that has ended meanwhile is none of Spark's any more, and killing it does nothing.
 */
final class StageTearDown {

  /** However long a rank may ask to wait. */
  private static final long MOST_PATIENCE_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private static final Logger LOG = LoggerFactory.getLogger(StageTearDown.class);

  /** See {@link org.apache.spark.SparkContext#killTaskAttempt}. */
  interface Kill {
    boolean kill(long taskAttemptId, boolean interruptThread, String reason);
  }

  private final Kill kill;
  private final ScheduledExecutorService executor;
  private final Map<StageAttempt, Set<Long>> begun = new HashMap<>();

  StageTearDown(Kill kill, ScheduledExecutorService executor) {
    this.kill = kill;
    this.executor = executor;
  }

  /** Kills those of the tasks later that nobody has asked for yet. Does not block. */
  synchronized void begin(
      StageAttempt stage, Collection<Long> tasks, long patienceMillis, String reason) {
    Set<Long> known = begun.computeIfAbsent(stage, unused -> new HashSet<>());
    Set<Long> more = new HashSet<>(tasks);
    more.removeAll(known);
    if (more.isEmpty()) {
      return;
    }
    known.addAll(more);
    try {
      executor.schedule(
          () -> kill(stage, more, KillReason.tearDown(reason)),
          Math.max(0, Math.min(MOST_PATIENCE_MILLIS, patienceMillis)),
          TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("{} need not be torn down: the application ends", stage);
    }
  }

  private void kill(StageAttempt stage, Set<Long> tasks, String reason) {
    for (long task : tasks) {
      try {
        if (kill.kill(task, true, reason)) {
          LOG.warn("Task {} of {} is killed: {}", task, stage, reason);
        }
      } catch (RuntimeException e) {
        LOG.warn("Task {} of {} could not be killed: {}", task, stage, e.toString());
      }
    }
  }

  /** The stage is over. */
  synchronized void ended(StageAttempt stage) {
    begun.remove(stage);
  }
}

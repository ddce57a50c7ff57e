package org.sparkcollectives.spark.internal.driver;

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
import org.sparkcollectives.spark.internal.protocol.KillReason;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/**
 * Ends the tasks of a group that has failed with an {@link org.sparkcollectives.ErrorHandling} that
 * tears down: the driver kills them, with the first cause as the reason.
 *
 * <p>All ranks of a group request it, each with the cause that it knows; the first request counts.
 * If a task has ended meanwhile, killing it has no effect.
 */
final class StageTearDown {

  /** The limit of the wait that a rank may request. */
  private static final long MOST_PATIENCE_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private static final Logger LOG = LoggerFactory.getLogger(StageTearDown.class);

  /** Kills a task, as {@link org.apache.spark.SparkContext#killTaskAttempt} does. */
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

  /** Schedules the kill of those of the tasks for which none is scheduled yet. Does not block. */
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

  /** Forgets a stage that is over. */
  synchronized void ended(StageAttempt stage) {
    begun.remove(stage);
  }
}

package org.sparkcollectives.spark.internal.driver;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/**
 * Decides which attempts of stages may use the driver's store: the latest attempt of each stage,
 * until it has ended. Not thread-safe.
 */
final class AttemptFence {

  /** The number of ended stages that are remembered, so that their late tasks are refused. */
  private static final int REMEMBERED_STAGES = 10_000;

  private final Map<Integer, Integer> latest = new HashMap<>();
  private final Map<Integer, Integer> ended =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Integer> eldest) {
          return size() > REMEMBERED_STAGES;
        }
      };

  /**
   * Admits a task of an attempt.
   *
   * @return the earlier attempt that ends because this one has begun; null if there is none
   * @throws IllegalStateException if this attempt is over
   */
  StageAttempt enter(StageAttempt stage) {
    if (stage.attempt() <= ended.getOrDefault(stage.stageId(), -1)) {
      throw new IllegalStateException(stage + " is over; this task of it comes too late");
    }
    int before = latest.getOrDefault(stage.stageId(), -1);
    if (stage.attempt() < before) {
      throw new IllegalStateException(
          stage + " is over: attempt " + before + " of that stage has begun");
    }
    latest.put(stage.stageId(), stage.attempt());
    return before < 0 || before == stage.attempt()
        ? null
        : new StageAttempt(stage.stageId(), before);
  }

  /** Returns whether the attempt has ended, or a later one has begun. */
  boolean isOver(StageAttempt stage) {
    return stage.attempt() <= ended.getOrDefault(stage.stageId(), -1)
        || stage.attempt() < latest.getOrDefault(stage.stageId(), -1);
  }

  /** Ends an attempt. */
  void end(StageAttempt stage) {
    latest.remove(stage.stageId(), stage.attempt());
    ended.merge(stage.stageId(), stage.attempt(), Math::max);
  }
}

package org.sparkcollectives.spark.internal.driver;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.sparkcollectives.Failure;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/**
 * Ends the rendezvous of groups that a task of their stage can no longer join, because it has
 * ended. Not thread-safe.
 *
 * <p>Spark reports the tasks of all stages, of which few have groups. So one record is kept for
 * each running stage, that of the task which ended first.
 */
final class EndedTasks {

  /** The most stages that are kept. Late events of older stages would otherwise stay for ever. */
  private static final int MOST_STAGES = 1000;

  /** Ends the rendezvous of a group, unless its last rank has joined this moment. */
  interface Rendezvous {
    void fail(StageAttempt stage, String group, Failure failure);
  }

  /** The failure of the first task to end, and the groups in which ranks may still be waiting. */
  private static final class Stage {
    Failure first;
    final Set<String> groups = new HashSet<>();
  }

  private final Rendezvous rendezvous;
  private final Map<StageAttempt, Stage> stages =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<StageAttempt, Stage> eldest) {
          return size() > MOST_STAGES;
        }
      };

  EndedTasks(Rendezvous rendezvous) {
    this.rendezvous = rendezvous;
  }

  /** Records that a rank is about to join a group, where it waits for the others. */
  void joins(StageAttempt attempt, String group) {
    Stage stage = stages.computeIfAbsent(attempt, unused -> new Stage());
    if (stage.first == null) {
      stage.groups.add(group);
    } else {
      rendezvous.fail(attempt, group, stage.first);
    }
  }

  /** Records that all ranks of a group have met, so that none waits for another any more. */
  void made(StageAttempt attempt, String group) {
    Stage stage = stages.get(attempt);
    if (stage != null) {
      stage.groups.remove(group);
    }
  }

  /** Returns whether ranks may be waiting for others to join a group. */
  boolean isAwaited(StageAttempt attempt, String group) {
    Stage stage = stages.get(attempt);
    return stage != null && stage.groups.contains(group);
  }

  /** Records that a task has ended, successfully or not. */
  void ended(StageAttempt attempt, Failure failure) {
    Stage stage = stages.computeIfAbsent(attempt, unused -> new Stage());
    if (stage.first == null) {
      stage.first = failure;
      stage.groups.forEach(group -> rendezvous.fail(attempt, group, failure));
      stage.groups.clear();
    }
  }

  /** Removes what is kept of an attempt that is over. */
  void over(StageAttempt attempt) {
    stages.remove(attempt);
  }

  /** Returns the number of stages that are kept. */
  int size() {
    return stages.size();
  }
}

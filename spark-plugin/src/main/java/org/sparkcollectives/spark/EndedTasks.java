package org.sparkcollectives.spark;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.sparkcollectives.Failure;

/**
 * Which stages have tasks that have ended, and which groups of these stages are not made yet: a
 * group of which a rank's task has ended before it was made will never be, and is reported. Not
 * thread-safe.
 *
 * <p>Spark reports the tasks of all stages, of which few have groups: one record is kept for each
 * stage that runs, that of the task which ended first.
 */
final class EndedTasks {

  /** More stages do not run at the same time; late events of older ones would stay for ever. */
  private static final int MOST_STAGES = 1000;

  /** What ends the rendezvous of a group, unless its last rank has joined this moment. */
  interface Rendezvous {
    void fail(StageAttempt stage, String group, Failure failure);
  }

  /** The first task of a stage to end, and the groups that ranks have asked for and not met in. */
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

  /** A rank is about to join a group, and will wait for the others. */
  void joins(StageAttempt attempt, String group) {
    Stage stage = stages.computeIfAbsent(attempt, unused -> new Stage());
    if (stage.first == null) {
      stage.groups.add(group);
    } else {
      rendezvous.fail(attempt, group, stage.first);
    }
  }

  /** All ranks of a group have met: no rank waits for another to join it any more. */
  void made(StageAttempt attempt, String group) {
    Stage stage = stages.get(attempt);
    if (stage != null) {
      stage.groups.remove(group);
    }
  }

  /** Whether ranks may be waiting for others to join a group. */
  boolean isAwaited(StageAttempt attempt, String group) {
    Stage stage = stages.get(attempt);
    return stage != null && stage.groups.contains(group);
  }

  /** A task has ended, well or not. */
  void ended(StageAttempt attempt, Failure failure) {
    Stage stage = stages.computeIfAbsent(attempt, unused -> new Stage());
    if (stage.first == null) {
      stage.first = failure;
      stage.groups.forEach(group -> rendezvous.fail(attempt, group, failure));
      stage.groups.clear();
    }
  }

  /** The attempt is over: nothing is kept of it. */
  void over(StageAttempt attempt) {
    stages.remove(attempt);
  }

  /** The number of stages of which something is kept. */
  int size() {
    return stages.size();
  }
}

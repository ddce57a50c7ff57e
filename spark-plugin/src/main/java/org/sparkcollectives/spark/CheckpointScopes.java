package org.sparkcollectives.spark;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.sparkcollectives.store.StoreSession;
import org.sparkcollectives.store.StoreTable;

/**
 * The checkpoints of an application, in the driver's store: whose they are, and when they go.
 *
 * <p>Those of one call of {@link BarrierStage} are a scope, which the attempts of its stage share,
 * and the stages of further jobs that compute the same rows because the first one failed. A barrier
 * stage that was not made so has the scope of its stage number. A scope goes when the job that used
 * it last succeeds, or ends and cannot be tried again; all go with the application. Of calls whose
 * job has failed, which may or may not be tried again, the last few keep theirs.
 *
 * <p>Thread-safe; nothing blocks.
 */
final class CheckpointScopes {

  /** How many calls whose job has failed keep their checkpoints. */
  static final int KEPT_AFTER_FAILURE = 8;

  private static final String OF_STAGE = "stage-";

  private final StoreTable table;

  /** The attempt that uses a scope, which is the latest that has asked for it. */
  private final Map<String, StageAttempt> users = new HashMap<>();

  /** Those whose job has failed, the longest ago first. */
  private final Set<String> abandoned = new LinkedHashSet<>();

  /** Those that no further job will use, once the one that uses them has ended. */
  private final Set<String> released = new HashSet<>();

  private final Map<Integer, Set<Integer>> stagesOfJobs = new HashMap<>();

  CheckpointScopes(StoreTable table) {
    this.table = table;
  }

  /** The scope of a stage, of a call or, for an empty one, of its own. */
  static String scope(String call, StageAttempt stage) {
    return call.isEmpty() ? OF_STAGE + stage.stageId() : call;
  }

  /**
   * A session on the keys of a scope.
   *
   * @param newSession makes it, for keys of that prefix
   * @throws IllegalStateException if a later attempt, or another stage that began later, uses it
   */
  synchronized StoreSession open(
      String scope, StageAttempt stage, Function<String, StoreSession> newSession) {
    StageAttempt user = users.get(scope);
    if (user != null && stage.isBefore(user)) {
      throw new IllegalStateException(
          "The checkpoints are in use by " + user + ", which began after " + stage);
    }
    users.put(scope, stage);
    abandoned.remove(scope);
    return newSession.apply(keyPrefix(scope));
  }

  private static String keyPrefix(String scope) {
    return "checkpoints-" + scope + "/";
  }

  synchronized void jobStarted(int job, Collection<Integer> stages) {
    stagesOfJobs.put(job, Set.copyOf(stages));
  }

  /** Removes what the job has no use for any more. None of its tasks has a session. */
  synchronized void jobEnded(int job, boolean succeeded) {
    Set<Integer> stages = stagesOfJobs.remove(job);
    if (stages == null) {
      return;
    }
    List<String> used = new ArrayList<>();
    users.forEach(
        (scope, user) -> {
          if (stages.contains(user.stageId())) {
            used.add(scope);
          }
        });
    for (String scope : used) {
      // A failed job is never tried again with the same stage number.
      if (succeeded || scope.startsWith(OF_STAGE) || released.contains(scope)) {
        remove(scope, "its job has ended");
      } else {
        abandoned.add(scope);
      }
    }
    while (abandoned.size() > KEPT_AFTER_FAILURE) {
      remove(abandoned.iterator().next(), "other jobs have failed since its job did");
    }
  }

  /** No further job will use the scope of this call. */
  synchronized void release(String call) {
    if (abandoned.contains(call)) {
      remove(call, "it is not tried again");
    } else if (users.containsKey(call)) {
      released.add(call);
    }
  }

  private void remove(String scope, String reason) {
    released.remove(scope);
    users.remove(scope);
    abandoned.remove(scope);
    table.removePrefix(keyPrefix(scope), reason);
  }
}

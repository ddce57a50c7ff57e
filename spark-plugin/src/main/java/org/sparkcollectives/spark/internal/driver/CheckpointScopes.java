package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.store.StoreSession;
import org.sparkcollectives.store.StoreTable;

/**
 * The checkpoints of an application in the driver's store: who owns them, and when they are
 * removed.
 *
 * <p>The checkpoints of one call of {@code BarrierStage} form a scope. The attempts of its stage
 * share it, and so do the stages of later jobs that compute the same rows because the first job
 * failed. A barrier stage that was created otherwise has the scope of its stage number. A scope is
 * removed when the job that used it last succeeds, or ends and cannot be tried again; all are
 * removed with the application. If a call's job has failed and may be tried again, its scope is
 * kept, but only for the last few such calls.
 *
 * <p>Thread-safe; nothing blocks.
 */
final class CheckpointScopes {

  /** The number of calls with a failed job whose checkpoints are kept. */
  static final int KEPT_AFTER_FAILURE = 8;

  private static final String OF_STAGE = "stage-";

  private final StoreTable table;

  /** The attempt that uses a scope, which is the latest that has opened it. */
  private final Map<String, StageAttempt> users = new HashMap<>();

  /** The scopes whose job has failed, the earliest failure first. */
  private final Set<String> abandoned = new LinkedHashSet<>();

  /** The scopes that no later job will use, once the attempt that uses them has ended. */
  private final Set<String> released = new HashSet<>();

  private final Map<Integer, Set<Integer>> stagesOfJobs = new HashMap<>();

  CheckpointScopes(StoreTable table) {
    this.table = table;
  }

  /** Returns the name of the scope of a call or, if {@code call} is empty, of the stage itself. */
  static String scope(String call, StageAttempt stage) {
    return call.isEmpty() ? OF_STAGE + stage.stageId() : call;
  }

  /**
   * Opens a session on the keys of a scope.
   *
   * @param newSession creates it, for keys with that prefix
   * @throws IllegalStateException if a later attempt, or another stage that began later, uses the
   *     scope
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

  /** Removes the scopes that the job no longer needs. None of its tasks has a session. */
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

  /** Releases the scope of this call, which no later job will use. */
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

package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.spark.SparkException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.spi.failure.FailedRendezvous;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;

/**
 * Decides which replicas of a run take the next steps together, as torchft's lighthouse does.
 *
 * <p>A replica asks when it has begun, when its group has failed, and when it knows that another
 * one waits. All that have asked get a quorum once each member of the quorum before has asked, has
 * died, or does not respond; the first one also waits for all that have begun by then. Deaths come
 * from Spark, which knows them, and not from heartbeats; what does not respond is known from the
 * members that wait for it, and counts again when it asks. As there is one lighthouse, and it is
 * where the store is that refuses whom it has given up, no majority is needed.
 *
 * <p>If none that has asked has the newest state, the quorum begins with the last checkpoint, or
 * with the state of a replica that was left behind if that is newer; without either the run fails.
 * Thread-safe; nothing blocks.
 */
final class Lighthouse {

  private static final Logger LOG = LoggerFactory.getLogger(Lighthouse.class);

  private record Question(QuorumRequest request, CompletableFuture<Quorum> answer) {}

  /** Receives the decisions of a lighthouse. Its methods must not block. */
  interface Listener {

    /**
     * Called when a quorum has been formed.
     *
     * @param lostAttempt whether the one before has lost an attempt of a step
     */
    void formed(Quorum quorum, boolean lostAttempt);

    /** Called when the others go on without a replica that is to leave: its task may be killed. */
    void released(long incarnation);
  }

  private final int minReplicas;
  private final Store store;
  private final String group;
  private final int replicaSize;
  private final Listener listener;
  private final CompletableFuture<SparkException> failure = new CompletableFuture<>();

  /** The replica that each incarnation is whose task runs. */
  private final Map<Long, Integer> running = new HashMap<>();

  /** Those that run, but do not respond. */
  private final Set<Long> unreachable = new HashSet<>();

  /** Those that are to leave, as soon as another one has the state. */
  private final Set<Long> leaving = new HashSet<>();

  private final Map<Long, Question> asked = new TreeMap<>();
  private Quorum quorum = new Quorum(0, List.of(), null);

  /** Whether the group of the quorum is of no use to a member any more. */
  private boolean broken;

  private boolean over;

  /**
   * Creates the lighthouse of a run.
   *
   * @param minReplicas how many replicas a quorum needs
   * @param store the keys of the run
   * @param group the name of the group of its replicas
   * @param replicaSize how many ranks a replica has, each with a group of its own
   */
  Lighthouse(int minReplicas, Store store, String group, int replicaSize, Listener listener) {
    this.minReplicas = minReplicas;
    this.store = store;
    this.group = group;
    this.replicaSize = replicaSize;
    this.listener = listener;
  }

  /** Records that the task of a replica has begun; one before it is over. */
  synchronized void began(int replica, long incarnation) {
    List<Long> before =
        running.entrySet().stream()
            .filter(each -> each.getValue() == replica)
            .map(Map.Entry::getKey)
            .toList();
    running.put(incarnation, replica);
    before.forEach(
        each ->
            lost(
                each,
                new Failure(
                    Failure.Kind.EXECUTOR_LOST,
                    new RankLocation(replica, "unknown", "unknown", each),
                    "",
                    -1,
                    "Spark has begun it again as task " + incarnation)));
    decide();
  }

  /** Returns a future of the next quorum that an incarnation is in. */
  synchronized CompletableFuture<Quorum> ask(long incarnation, QuorumRequest request) {
    if (failure.isDone()) {
      return CompletableFuture.failedFuture(new StoreException(failure.join().getMessage()));
    }
    if (!running.containsKey(incarnation)) {
      return CompletableFuture.failedFuture(
          new StoreException("Task " + incarnation + " is over for the driver"));
    }
    unreachable.remove(incarnation);
    boolean member = quorum.rank(incarnation) >= 0;
    broken |= member && request.failed();
    if (member) {
      accuse(incarnation, request.unreachable());
    }
    Question question = new Question(request, new CompletableFuture<>());
    Question before = asked.put(incarnation, question);
    if (before != null) {
      before.answer().cancel(false);
    }
    decide();
    return question.answer();
  }

  private void accuse(long by, List<Long> accused) {
    for (long each : accused) {
      if (quorum.rank(each) >= 0 && !asked.containsKey(each) && unreachable.add(each)) {
        LOG.info("Task {} of {} does not respond to task {}", each, group, by);
      }
    }
  }

  /** Records that a task has returned: its run needs no further steps. */
  synchronized void returned(long incarnation) {
    if (running.remove(incarnation) != null) {
      over = true;
      decide();
    }
  }

  /**
   * Records that a task has failed.
   *
   * @param cause what the program has thrown, for which the run fails; null if another attempt of
   *     the task may succeed
   */
  synchronized void failed(long incarnation, Failure how, SparkException cause) {
    if (!running.containsKey(incarnation)) {
      return;
    }
    LOG.info(
        "Replica {} of {}: {} {}", running.get(incarnation), group, how.where(), how.kind().verb());
    lost(incarnation, how);
    if (cause != null) {
      fail(cause);
    }
    decide();
  }

  /**
   * Records that a replica is to leave, because its executor will end. It takes part until the
   * others can go on without it, and is released between two steps, so that none is lost.
   */
  synchronized void leave(long incarnation) {
    if (running.containsKey(incarnation) && leaving.add(incarnation)) {
      LOG.info(
          "Replica {} of {} (task {}) is to leave: its executor is being decommissioned",
          running.get(incarnation),
          group,
          incarnation);
      callIfLeaving();
      decide();
    }
  }

  /** Has the members of the quorum ask after this step, if one is to leave and others may stay. */
  private void callIfLeaving() {
    if (quorum.members().size() > 1
        && quorum.members().stream().anyMatch(each -> leaving.contains(each.incarnation()))) {
      store.set(RunKeys.pending(quorum.id()), new byte[0]);
    }
  }

  /**
   * Releases those that are to leave and have asked, if another that has asked has the newest state
   * of all. If all are to leave, one of those stays until one that has begun elsewhere has it.
   */
  private void release() {
    List<Long> released = new ArrayList<>(asked.keySet());
    released.retainAll(leaving);
    if (released.size() == asked.size()) {
      StateVersion newest = newestAsked();
      asked.entrySet().stream()
          .filter(each -> each.getValue().request().version().equals(newest))
          .findFirst()
          .ifPresent(each -> released.remove(each.getKey()));
    }
    Map<Long, Question> staying = new TreeMap<>(asked);
    released.forEach(staying::remove);
    if (released.isEmpty()
        || isStateLost(staying)
        || newest(staying).compareTo(newestAsked()) < 0) {
      return;
    }
    for (long each : released) {
      asked.remove(each).answer().cancel(false);
      running.remove(each);
      leaving.remove(each);
      listener.released(each);
    }
  }

  private void lost(long incarnation, Failure how) {
    running.remove(incarnation);
    unreachable.remove(incarnation);
    leaving.remove(incarnation);
    Question question = asked.remove(incarnation);
    if (question != null) {
      question.answer().cancel(false);
    }
    int member = quorum.rank(incarnation);
    if (member >= 0) {
      RankLocation location = new RankLocation(member, how.host(), how.executorId(), incarnation);
      Failure failure = new Failure(how.kind(), location, "", -1, how.cause());
      // Members that make the quorum's groups at this moment would wait for this one.
      for (int rank = 0; rank < replicaSize; rank++) {
        String of = RunKeys.replicas(group, rank, replicaSize);
        FailedRendezvous.publish(store.withPrefix(RunKeys.group(of, quorum.id())), failure);
      }
    }
  }

  /** Returns a future that completes with the reason when the run cannot go on. */
  CompletableFuture<SparkException> failure() {
    return failure;
  }

  private void decide() {
    if (asked.isEmpty()) {
      return;
    }
    if (over) {
      answer(Quorum.OVER);
      return;
    }
    boolean stateLost = isStateLost(asked);
    if (isAwaited(stateLost)) {
      // Its members look at this between steps.
      store.set(RunKeys.pending(quorum.id()), new byte[0]);
      return;
    }
    release();
    StateVersion checkpoint = null;
    if (stateLost) {
      checkpoint = newestCheckpoint();
      StateVersion older = newestAsked();
      if (older.step() > 0 && (checkpoint == null || older.step() > checkpoint.step())) {
        checkpoint = null;
        LOG.warn(
            "{} has lost the replicas that had its newest state, and goes on from step {} of one"
                + " that was left behind; its last quorum began at step {}",
            group,
            older.step(),
            quorum.healed().step());
      } else if (checkpoint == null) {
        fail(
            new SparkException(
                "All replicas of "
                    + group
                    + " that had its state were lost: "
                    + describe(quorum)
                    + ". There is no checkpoint to go on from, and beginning again at step 0 is"
                    + " for you to decide. Use more replicas on different executors, or"
                    + " withCheckpointInterval"));
        return;
      }
    }
    if (asked.size() < minReplicas) {
      LOG.info("{} waits for {} more replicas", group, minReplicas - asked.size());
      return;
    }
    form(checkpoint);
  }

  /**
   * Returns whether a member of the present quorum is waited for; one that does not respond only if
   * it may have the state that all others lack.
   */
  private boolean isAwaited(boolean stateLost) {
    if (quorum.id() == 0) {
      return !asked.keySet().containsAll(running.keySet());
    }
    return quorum.members().stream()
        .map(Quorum.Member::incarnation)
        .filter(each -> running.containsKey(each) && !asked.containsKey(each))
        .anyMatch(each -> stateLost || !unreachable.contains(each));
  }

  /** Returns whether there was a state that none of these has. */
  private boolean isStateLost(Map<Long, Question> these) {
    if (quorum.id() == 0
        || these.entrySet().stream().anyMatch(each -> has(each.getKey(), each.getValue()))) {
      return false;
    }
    // A member without a state shows that its quorum has committed nothing.
    return quorum.checkpoint() != null
        || !quorum.newest().equals(StateVersion.NONE)
        || these.keySet().stream().noneMatch(each -> quorum.rank(each) >= 0);
  }

  /**
   * Returns whether a replica has the newest state: a member of the present quorum, without which
   * that has committed nothing, and which has the state that the quorum began with. One step less
   * is the newest, too, if who has committed that alone is gone.
   */
  private boolean has(long incarnation, Question question) {
    StateVersion version = question.request().version();
    return quorum.rank(incarnation) >= 0
        && !version.equals(StateVersion.NONE)
        && version.step() >= quorum.healed().step() - 1;
  }

  private StateVersion newestAsked() {
    return newest(asked);
  }

  private static StateVersion newest(Map<Long, Question> these) {
    return these.values().stream()
        .map(each -> each.request().version())
        .max(Comparator.naturalOrder())
        .orElse(StateVersion.NONE);
  }

  private StateVersion newestCheckpoint() {
    return store.listKeys().stream()
        .map(RunKeys::checkpoint)
        .flatMap(Optional::stream)
        .max(Comparator.naturalOrder())
        .orElse(null);
  }

  private void form(StateVersion checkpoint) {
    List<Quorum.Member> members = new ArrayList<>();
    asked.forEach(
        (incarnation, question) ->
            members.add(
                new Quorum.Member(running.get(incarnation), incarnation, question.request())));
    members.sort(Comparator.comparingInt(Quorum.Member::replica));
    boolean same =
        !broken
            && checkpoint == null
            && incarnations(members).equals(incarnations(quorum.members()));
    store.deleteKey(RunKeys.pending(quorum.id()));
    quorum = new Quorum(quorum.id() + (same ? 0 : 1), members, checkpoint);
    boolean lostAttempt = broken;
    broken = false;
    unreachable.retainAll(running.keySet());
    callIfLeaving();
    if (checkpoint != null) {
      LOG.warn("{} has lost all its replicas, and goes on from step {}", group, checkpoint.step());
    }
    if (!same) {
      LOG.info("{}: {}", group, describe(quorum));
      listener.formed(quorum, lostAttempt);
    }
    answer(quorum);
  }

  private static List<Long> incarnations(List<Quorum.Member> members) {
    return members.stream().map(Quorum.Member::incarnation).toList();
  }

  private static String describe(Quorum quorum) {
    return "quorum "
        + quorum.id()
        + " of replicas "
        + quorum.members().stream()
            .map(each -> each.replica() + " (task " + each.incarnation() + ")")
            .collect(Collectors.joining(", "))
        + " at step "
        + quorum.healed().step();
  }

  private void answer(Quorum answer) {
    List<Question> questions = List.copyOf(asked.values());
    asked.clear();
    questions.forEach(each -> each.answer().complete(answer));
  }

  private void fail(SparkException reason) {
    failure.complete(reason);
    List<Question> questions = List.copyOf(asked.values());
    asked.clear();
    questions.forEach(
        each -> each.answer().completeExceptionally(new StoreException(reason.getMessage())));
  }

  /** Ends the run for all that still ask. */
  synchronized void close() {
    over = true;
    decide();
  }
}

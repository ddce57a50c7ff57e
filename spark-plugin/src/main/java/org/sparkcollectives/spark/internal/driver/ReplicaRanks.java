package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.SparkException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.store.StoreException;

/**
 * The ranks of the replicas of a run, of which the {@link Lighthouse} sees replicas only.
 *
 * <p>A replica has begun once all its ranks have, and asks for a quorum once all have asked; each
 * rank gets the same quorum, with the tasks and handles of its own rank in all replicas. When one
 * rank has failed, the replica has. To the lighthouse, the task of rank 0 stands for all.
 * Thread-safe; nothing blocks.
 */
final class ReplicaRanks {

  private static final long NOT_BEGUN = -1;

  /** An incarnation of a replica. */
  private static final class Incarnation {
    final int replica;
    final StageAttempt stage;

    /** By rank. */
    final long[] tasks;

    final QuorumRequest[] requests;
    final List<CompletableFuture<Quorum>> answers = new ArrayList<>();

    /** The requests of all ranks when the replica last asked the lighthouse, by rank. */
    List<QuorumRequest> asked = List.of();

    /** The question that the lighthouse has not answered yet; null if there is none. */
    CompletableFuture<Quorum> question;

    boolean hasBegun;
    int returned;

    Incarnation(RunRequest first, int size) {
      replica = first.replica();
      stage = first.stage();
      tasks = new long[size];
      Arrays.fill(tasks, NOT_BEGUN);
      requests = new QuorumRequest[size];
    }

    long id() {
      return tasks[0];
    }

    boolean takes(RunRequest rank) {
      return stage.equals(rank.stage()) && tasks[rank.rank()] == NOT_BEGUN;
    }

    int rank(long task) {
      for (int rank = 0; ; rank++) {
        if (tasks[rank] == task) {
          return rank;
        }
      }
    }

    void cancelAnswers() {
      answers.forEach(each -> each.cancel(false));
    }
  }

  private final Lighthouse lighthouse;
  private final int size;
  private final Map<Long, Incarnation> byTask = new HashMap<>();
  private final Map<Integer, Incarnation> latest = new HashMap<>();

  /** By replica, with how many steps the last quorum began that it was in. */
  private final Map<Integer, Long> steps = new HashMap<>();

  /**
   * Creates the ranks of a run, of which none has begun.
   *
   * @param size how many ranks a replica has
   */
  ReplicaRanks(Lighthouse lighthouse, int size) {
    this.lighthouse = lighthouse;
    this.size = size;
  }

  /** Records that the task of a rank has begun. With the last rank, the incarnation before ends. */
  synchronized void began(RunRequest rank) {
    Incarnation before = latest.get(rank.replica());
    boolean joins = before != null && before.takes(rank);
    Incarnation own = joins ? before : new Incarnation(rank, size);
    own.tasks[rank.rank()] = rank.incarnation();
    byTask.put(rank.incarnation(), own);
    latest.put(rank.replica(), own);
    if (Arrays.stream(own.tasks).allMatch(task -> task != NOT_BEGUN)) {
      own.hasBegun = true;
      lighthouse.began(own.replica, own.id());
      byTask.values().removeIf(each -> each.replica == own.replica && each != own);
    }
  }

  /** Returns a future of the next quorum that the replica of a task is in. */
  synchronized CompletableFuture<Quorum> ask(long task, QuorumRequest request) {
    Incarnation own = byTask.get(task);
    if (own == null) {
      return CompletableFuture.failedFuture(
          new StoreException("Task " + task + " is over for the driver"));
    }
    int rank = own.rank(task);
    CompletableFuture<Quorum> answer = new CompletableFuture<>();
    while (own.answers.size() < size) {
      own.answers.add(new CompletableFuture<>());
    }
    own.answers.set(rank, answer).cancel(false);
    own.requests[rank] = request;
    if (Arrays.stream(own.requests).allMatch(Objects::nonNull)) {
      ask(own);
    }
    return answer;
  }

  private void ask(Incarnation own) {
    own.asked = List.of(own.requests);
    own.question = null;
    CompletableFuture<Quorum> question = lighthouse.ask(own.id(), together(own.asked));
    own.question = question;
    question.whenComplete(
        (quorum, cause) -> {
          if (own.question == question) {
            answer(own, quorum, cause);
          }
        });
  }

  private QuorumRequest together(List<QuorumRequest> requests) {
    QuorumRequest first = requests.get(0);
    return new QuorumRequest(
        first.handle(),
        first.layout(),
        version(requests),
        requests.stream().anyMatch(QuorumRequest::failed),
        requests.stream()
            .flatMap(each -> each.unreachable().stream())
            .map(task -> byTask.containsKey(task) ? byTask.get(task).id() : task)
            .distinct()
            .toList());
  }

  /** Returns none if the ranks differ: some have received a state and others not. */
  private static StateVersion version(List<QuorumRequest> requests) {
    List<StateVersion> versions = requests.stream().map(QuorumRequest::version).distinct().toList();
    return versions.size() == 1 ? versions.get(0) : StateVersion.NONE;
  }

  private void answer(Incarnation own, Quorum quorum, Throwable cause) {
    List<CompletableFuture<Quorum>> answers = List.copyOf(own.answers);
    own.answers.clear();
    Arrays.fill(own.requests, null);
    own.question = null;
    if (cause instanceof CancellationException) {
      answers.forEach(each -> each.cancel(false));
    } else if (cause != null) {
      answers.forEach(each -> each.completeExceptionally(cause));
    } else {
      if (!quorum.isOver()) {
        steps.put(own.replica, quorum.healed().step());
      }
      for (int rank = 0; rank < size; rank++) {
        answers.get(rank).complete(ofRank(quorum, rank));
      }
    }
  }

  /** Returns a quorum as one rank of its members sees it. */
  private Quorum ofRank(Quorum quorum, int rank) {
    List<Quorum.Member> members = new ArrayList<>();
    for (Quorum.Member each : quorum.members()) {
      Incarnation member = byTask.get(each.incarnation());
      QuorumRequest own = member.asked.get(rank);
      members.add(
          new Quorum.Member(
              each.replica(),
              member.tasks[rank],
              new QuorumRequest(
                  own.handle(),
                  own.layout(),
                  each.request().version(),
                  own.failed(),
                  own.unreachable())));
    }
    return new Quorum(quorum.id(), members, quorum.checkpoint());
  }

  /** Records that a replica is to leave, because the executor of one of its tasks will end. */
  synchronized void leave(long task) {
    Incarnation own = byTask.get(task);
    if (own != null && own.hasBegun) {
      lighthouse.leave(own.id());
    }
  }

  /** Records that a task has returned. Once all of a replica have, the run needs no more steps. */
  synchronized void returned(long task) {
    Incarnation own = byTask.get(task);
    if (own != null && ++own.returned == size) {
      forget(own);
      lighthouse.returned(own.id());
    }
  }

  /**
   * Records that a task has failed, and so its replica.
   *
   * @param cause see {@link Lighthouse#failed}; of a replica of several ranks, {@link ReplicaJobs}
   *     find out which of them was the first
   */
  synchronized void failed(long task, Failure how, SparkException cause) {
    Incarnation own = byTask.get(task);
    if (own != null) {
      forget(own);
      own.cancelAnswers();
      lighthouse.failed(own.id(), how, size > 1 ? null : cause);
    }
  }

  private void forget(Incarnation own) {
    byTask.values().removeIf(each -> each == own);
    latest.remove(own.replica, own);
  }

  /** Returns with how many steps the last quorum began that a replica was in; -1 if in none. */
  synchronized long steps(int replica) {
    return steps.getOrDefault(replica, -1L);
  }

  /** Returns whether all ranks of a replica have begun, and none has failed. */
  synchronized boolean isRunning(int replica) {
    Incarnation own = latest.get(replica);
    return own != null && own.hasBegun;
  }

  /** Returns a future that completes with the reason when the run cannot go on. */
  CompletableFuture<SparkException> failure() {
    return lighthouse.failure();
  }

  /** Ends the run for all that still ask. */
  synchronized void close() {
    lighthouse.close();
    byTask.values().forEach(Incarnation::cancelAnswers);
  }
}

package org.sparkcollectives.spark.internal.driver;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.SparkException;
import org.apache.spark.Success$;
import org.apache.spark.rpc.RpcAddress;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Failure;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.store.StoreException;

/**
 * The calls of {@code ElasticStage} that are under way: each has keys in the driver's store, which
 * live as long as the call, and a {@link Lighthouse}, which {@link ReplicaRanks} ask. Thread-safe;
 * nothing blocks.
 */
final class Runs {

  private static final Logger LOG = LoggerFactory.getLogger(Runs.class);

  /** How often it is looked for replicas on executors that are being decommissioned. */
  private static final long LOOK_SECONDS = 1;

  private static final String PYTHON_EXCEPTION = "org.apache.spark.api.python.PythonException";

  /** The last line of a stack of Python, before what Spark adds. */
  private static final Pattern STORE_ERROR_OF_PYTHON =
      Pattern.compile(
          "(?m)^spark_collectives\\.errors\\.Store\\w*Error: (?s:(?!\\nTraceback ).)*\\z");

  private final StoreClients clients;
  private final Supplier<String> application;
  private final AtomicLong last = new AtomicLong();
  private final Map<String, ReplicaRanks> runs = new ConcurrentHashMap<>();
  private final StageTearDown.Kill kill;
  private final Predicate<String> decommissioned;
  private final ScheduledExecutorService background;

  /** The replicas whose tasks run, by incarnation. */
  private final Map<Long, RunRequest> tasks = new ConcurrentHashMap<>();

  private final RunEvents events = new RunEvents(System::currentTimeMillis, LOG::warn, tasks::get);

  /**
   * Creates the runs of an application, of which there are none yet.
   *
   * @param clients where replicas become clients of the store
   * @param application gives its id
   * @param kill ends tasks whose executor is being decommissioned
   * @param decommissioned whether Spark is ending an executor, as it has announced
   * @param background has no thread while there is nothing to do
   */
  Runs(
      StoreClients clients,
      Supplier<String> application,
      StageTearDown.Kill kill,
      Predicate<String> decommissioned,
      ScheduledExecutorService background) {
    this.clients = clients;
    this.application = application;
    this.kill = kill;
    this.decommissioned = decommissioned;
    this.background = background;
  }

  /** Begins a run with replicas of one rank, see {@link #begin(int, int)}. */
  String begin(int minReplicas) {
    return begin(minReplicas, 1);
  }

  /**
   * Begins a run, and returns its id, which no other run of the application has.
   *
   * @param replicaSize how many ranks a replica has
   */
  String begin(int minReplicas, int replicaSize) {
    String run = String.valueOf(last.incrementAndGet());
    clients.beginRun(run);
    Lighthouse lighthouse =
        new Lighthouse(
            minReplicas,
            clients.store(RunKeys.prefix(run)),
            RunKeys.replicas(application.get(), run),
            replicaSize,
            listener(run));
    ReplicaRanks ranks = new ReplicaRanks(lighthouse, replicaSize);
    runs.put(run, ranks);
    lookForLeaving(run, ranks);
    return run;
  }

  private Lighthouse.Listener listener(String run) {
    return new Lighthouse.Listener() {
      @Override
      public void formed(Quorum quorum, boolean lostAttempt) {
        events.formed(run, quorum, lostAttempt);
      }

      @Override
      public void released(long incarnation) {
        // Spark starts the task elsewhere, and does not count a kill as a failure.
        kill.kill(incarnation, true, "its executor is being decommissioned");
      }
    };
  }

  /** Looks once a second, as long as the run goes on. */
  private void lookForLeaving(String run, ReplicaRanks ranks) {
    background.schedule(
        () -> {
          if (runs.get(run) == ranks) {
            leave(run, ranks);
            lookForLeaving(run, ranks);
          }
        },
        LOOK_SECONDS,
        TimeUnit.SECONDS);
  }

  /** Lets replicas leave of which a rank is on an executor that is being decommissioned. */
  private void leave(String run, ReplicaRanks ranks) {
    try {
      tasks.forEach(
          (task, rank) -> {
            if (rank.run().equals(run) && decommissioned.test(rank.executor())) {
              ranks.leave(task);
            }
          });
    } catch (RuntimeException e) {
      LOG.debug("Whether executors are being decommissioned is not known", e);
    }
  }

  /** Makes a rank of a replica a client of its run, see {@link StoreClients#openRun}. */
  void open(UUID id, RunRequest replica, RpcAddress sender) {
    clients.openRun(id, replica, sender);
    ReplicaRanks ranks = ranks(replica.run());
    tasks.put(replica.incarnation(), replica);
    ranks.began(replica);
  }

  /** Returns a future of the quorum of a replica's next step. */
  CompletableFuture<Quorum> ask(RunRequest replica, QuorumRequest request) {
    return ranks(replica.run()).ask(replica.incarnation(), request);
  }

  /** Records that a task has ended, well or not; it may be any of the application. */
  void taskEnded(SparkListenerTaskEnd end) {
    if (runs.isEmpty()) {
      return;
    }
    long task = end.taskInfo().taskId();
    if (end.reason() == Success$.MODULE$) {
      returned(task);
    } else {
      Failure failure = TaskEnds.anyFailure(end);
      failed(task, failure, isOfTheProgram(end, failure) ? cause(end, failure) : null);
    }
  }

  /** Records that a task has returned, see {@link ReplicaRanks#returned}. */
  void returned(long task) {
    runs.values().forEach(each -> each.returned(task));
    tasks.remove(task);
  }

  /** Records that a task has failed, see {@link ReplicaRanks#failed}. */
  void failed(long task, Failure failure, SparkException cause) {
    runs.values().forEach(each -> each.failed(task, failure, cause));
    tasks.remove(task);
  }

  /** Returns whether another attempt would throw the same again. What the store throws passes. */
  private static boolean isOfTheProgram(SparkListenerTaskEnd end, Failure failure) {
    return failure.kind() == Failure.Kind.EXCEPTION
        && !(end.reason() instanceof ExceptionFailure thrown
            && (thrown.className().startsWith(StoreException.class.getPackageName())
                || isStoreErrorOfPython(thrown)
                || isLostWorker(thrown)));
  }

  private static boolean isStoreErrorOfPython(ExceptionFailure thrown) {
    return thrown.className().equals(PYTHON_EXCEPTION)
        && thrown.description() != null
        && STORE_ERROR_OF_PYTHON.matcher(thrown.description()).find();
  }

  /** Returns whether a task's Python worker has ended, as when a container runs out of memory. */
  private static boolean isLostWorker(ExceptionFailure thrown) {
    return thrown.className().equals(SparkException.class.getName())
        && thrown.description() != null
        && thrown.description().startsWith("Python worker exited unexpectedly");
  }

  /** Returns what fails the run; null if the task has thrown nothing itself. */
  private static SparkException cause(SparkListenerTaskEnd end, Failure failure) {
    return end.reason() instanceof ExceptionFailure thrown
        ? new SparkException(
            "Replica "
                + failure.rank()
                + " (executor "
                + failure.executorId()
                + ", task "
                + failure.taskAttemptId()
                + ") failed: "
                + failure.cause(),
            thrown.exception().getOrElse(() -> null))
        : null;
  }

  /** Returns a future that completes with the reason when a run cannot go on. */
  CompletableFuture<SparkException> failure(String run) {
    return ranks(run).failure();
  }

  /** Returns what tells of the quorums. */
  RunEvents events() {
    return events;
  }

  /** Returns the ranks of a run. */
  ReplicaRanks ranks(String run) {
    ReplicaRanks ranks = runs.get(run);
    if (ranks == null) {
      throw new StoreException("Run " + run + " is over");
    }
    return ranks;
  }

  /**
   * Ends a run: its keys and clients go.
   *
   * @param error with what its jobs failed; empty if they did not
   */
  void close(String run, String error) {
    ReplicaRanks ranks = runs.remove(run);
    if (ranks != null) {
      ranks.close();
      SparkException failure = ranks.failure().getNow(null);
      events.ended(run, failure == null ? error : failure.getMessage());
    }
    // Their ends may be told after this.
    tasks.values().removeIf(each -> each.run().equals(run));
    clients.endRun(run);
  }
}

package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Failure;
import org.sparkcollectives.net.LibraryThreads;
import org.sparkcollectives.spi.failure.Causes;
import org.sparkcollectives.store.Backoff;
import org.sparkcollectives.store.StoreException;

/**
 * The jobs of an elastic stage whose replicas have several ranks: a barrier stage for each replica,
 * which ends with any of its tasks and is submitted again while the others go on.
 *
 * <p>A job is submitted once there are slots for its ranks, for which it waits without limit: that
 * is nothing wrong while other replicas train. When one replica has finished, those that have not
 * begun need not begin any more.
 *
 * @param <R> the type of a replica's result
 */
public final class ReplicaJobs<R> {

  /** Makes the tasks of a replica. */
  @FunctionalInterface
  public interface Ranks<T, R> {

    /**
     * Returns the tasks of a replica: a barrier stage.
     *
     * @param rows of the replica, a partition for each rank
     * @param call identifies the replica's jobs in the application
     */
    JavaRDD<R> of(int replica, RDD<T> rows, String call);
  }

  /** No chain of losses is as long; what fails so often fails for another reason. */
  private static final int MOST_FAILURES = 100;

  private static final long LOOK_MILLIS = 100;

  private static final long LONG_WAIT_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** How Spark's message begins when a task of a barrier stage has failed. */
  private static final String RANK_FAILED = "Could not recover from a failed barrier ResultStage";

  /** Executors were lost while Spark checked whether there are enough. */
  private static final String NO_SLOTS = "SPARK-24819";

  private static final Logger LOG = LoggerFactory.getLogger(ReplicaJobs.class);

  private final SparkContext context;
  private final ElasticRun run;
  private final int replicaSize;

  /** Whether all jobs must end. */
  private volatile boolean stopped;

  /** Whether one replica has finished. */
  private volatile boolean over;

  private ReplicaJobs(SparkContext context, ElasticRun run, int replicaSize) {
    this.context = context;
    this.run = run;
    this.replicaSize = replicaSize;
  }

  /**
   * Checks that Spark can run the replicas of some rows, not whether there are slots for them.
   *
   * @throws IllegalStateException if dynamic allocation is on, saying what to set
   * @throws IllegalArgumentException if the rows are computed by a barrier stage
   */
  public static void check(RDD<?> rows) {
    RetryPreflight.requireNoBarrier(rows);
    SlotPreflight.requireNoDynamicAllocation(rows);
  }

  /**
   * Runs all replicas, and returns what rank 0 of one of them has returned. Blocks until their jobs
   * have ended; an interrupt cancels them.
   *
   * @throws SparkException if a rank throws, with its exception as cause, if a job is cancelled, or
   *     the run cannot go on
   */
  public static <T, R> R run(RDD<T> rows, ElasticRun run, int replicaSize, Ranks<T, R> ranks)
      throws Exception {
    ReplicaJobs<R> jobs = new ReplicaJobs<>(rows.sparkContext(), run, replicaSize);
    List<CompletableFuture<List<R>>> ends = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < rows.getNumPartitions() / replicaSize; i++) {
      int replica = i;
      String call = UUID.randomUUID().toString();
      JavaRDD<R> tasks = ranks.of(replica, ReplicaPartitions.of(rows, replica, replicaSize), call);
      CompletableFuture<List<R>> end = new CompletableFuture<>();
      ends.add(end);
      // It inherits Spark's local properties: the job group and the pool.
      LibraryThreads named =
          LibraryThreads.named("collectives-elastic-" + run.id() + "-" + replica);
      threads.add(named.newThread(() -> jobs.complete(end, replica, tasks, call)));
    }
    threads.forEach(Thread::start);
    return jobs.await(ends, threads);
  }

  private R await(List<CompletableFuture<List<R>>> ends, List<Thread> threads) throws Exception {
    CompletableFuture<Void> end =
        CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0]));
    ends.forEach(
        each ->
            each.whenComplete(
                (result, cause) -> {
                  if (cause != null) {
                    end.completeExceptionally(cause);
                  }
                }));
    run.failure().thenAccept(end::completeExceptionally);
    try {
      end.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      stopped = true;
      join(threads);
    }
    return ends.stream()
        .map(CompletableFuture::join)
        .filter(result -> !result.isEmpty())
        .findFirst()
        .orElseThrow(() -> new SparkException("No replica has returned a result"))
        .get(0);
  }

  /** Waits until the jobs have ended, which are cancelled if they are not needed any more. */
  private static void join(List<Thread> threads) {
    boolean interrupted = false;
    for (Thread each : threads) {
      while (each.isAlive()) {
        try {
          each.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void complete(
      CompletableFuture<List<R>> end, int replica, JavaRDD<R> tasks, String call) {
    try {
      end.complete(follow(replica, tasks, call));
    } catch (Throwable e) {
      end.completeExceptionally(e);
    } finally {
      DriverStores.release(SparkEnv.get(), call);
    }
  }

  /** Returns the results of a replica: none if it comes too late. */
  private List<R> follow(int replica, JavaRDD<R> tasks, String call) throws Exception {
    WatchedJob job = new WatchedJob(context, call);
    int failures = 0;
    while (awaitSlots(replica, tasks)) {
      long before = run.steps(replica);
      try {
        List<R> results = job.run(() -> result(replica, tasks));
        if (!results.isEmpty()) {
          over = true;
        }
        return results;
      } catch (CancellationException e) {
        return List.of();
      } catch (WatchedJob.Failed failed) {
        Exception e = failed.exception();
        if (stopped || (over && isLoss(failed))) {
          return List.of();
        }
        failures = run.steps(replica) > before ? 1 : failures + 1;
        if (!isLoss(failed)) {
          throw e;
        }
        if (failures > MOST_FAILURES) {
          throw new SparkException(
              "The job of replica "
                  + replica
                  + " has failed "
                  + failures
                  + " times in a row, and no step was committed meanwhile",
              e);
        }
        LOG.warn("Replica {} of run {} is lost: {}", replica, run.id(), e.getMessage());
      }
    }
    return List.of();
  }

  /** Returns whether another submission may succeed: an executor was lost, or had no slots. */
  private static boolean isLoss(WatchedJob.Failed failed) {
    Exception e = failed.exception();
    boolean ofTheProgram =
        failed.kind() == Failure.Kind.EXCEPTION
            && Causes.of(e).noneMatch(StoreException.class::isInstance);
    String message = String.valueOf(e.getMessage());
    return !ofTheProgram && (message.contains(RANK_FAILED) || message.contains(NO_SLOTS));
  }

  private List<R> result(int replica, JavaRDD<R> tasks) throws Exception {
    JavaFutureAction<List<R>> job = tasks.collectAsync();
    while (true) {
      try {
        return job.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (stopped || (over && !run.isRunning(replica))) {
          job.cancel(true);
          throw new CancellationException("The job of replica " + replica + " is not needed");
        }
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }
  }

  /**
   * Waits until there are slots for the ranks of a replica, as otherwise Spark would look for them
   * each quarter of a minute only, and give up after ten.
   *
   * @return false if the replica is not needed
   */
  private boolean awaitSlots(int replica, JavaRDD<R> tasks) {
    StageResources resources = StageResources.of(tasks.rdd());
    Backoff backoff = Backoff.every(TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS));
    long start = System.nanoTime();
    boolean told = false;
    while (!stopped && !over) {
      int slots = resources.slots();
      if (slots >= replicaSize) {
        return true;
      }
      if (!told && System.nanoTime() - start > LONG_WAIT_NANOS) {
        told = true;
        LOG.warn(
            "Replica {} of run {} waits for {} slots; the application has {} in all",
            replica,
            run.id(),
            replicaSize,
            slots);
      }
      backoff.pause();
    }
    return false;
  }
}

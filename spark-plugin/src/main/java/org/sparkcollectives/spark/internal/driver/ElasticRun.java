package org.sparkcollectives.spark.internal.driver;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;

/** A call of {@code ElasticStage} on the driver. Its keys live until it is closed. Thread-safe. */
public final class ElasticRun implements AutoCloseable {

  private final Runs runs;
  private final String id;
  private final CompletableFuture<SparkException> failure;

  /** Why the jobs failed; empty if they did not. */
  private volatile String error = "";

  private ElasticRun(Runs runs, String id) {
    this.runs = runs;
    this.id = id;
    this.failure = runs.failure(id);
  }

  /** Begins a run of replicas of one rank in an application whose driver has a store. */
  public static ElasticRun begin(SparkEnv env, int minReplicas) {
    return begin(env, minReplicas, 1);
  }

  /** Begins a run of replicas with that many ranks each. */
  public static ElasticRun begin(SparkEnv env, int minReplicas, int replicaSize) {
    Runs runs = DriverStores.of(env).runs();
    return new ElasticRun(runs, runs.begin(minReplicas, replicaSize));
  }

  /** Returns what identifies the run in the application. */
  public String id() {
    return id;
  }

  /** Returns a future that completes with the reason when the run cannot go on. */
  public CompletableFuture<SparkException> failure() {
    return failure;
  }

  /** Runs the jobs, and notes with what they fail. */
  public <R> R call(Callable<R> jobs) throws Exception {
    try {
      return jobs.call();
    } catch (Exception e) {
      failed(e.toString());
      throw e;
    }
  }

  /** Notes that the jobs have failed; called by the Python package. */
  public void failed(String why) {
    error = why;
  }

  /** Cancels the jobs with a tag when the run cannot go on; called by the Python package. */
  public void cancelWhenFailed(SparkContext context, String tag) {
    failure.thenAccept(reason -> context.cancelJobsWithTag(tag));
  }

  /** Returns with how many steps the last quorum began that a replica was in; -1 if in none. */
  long steps(int replica) {
    return runs.ranks(id).steps(replica);
  }

  /** Returns whether all ranks of a replica have begun, and none has failed. */
  boolean isRunning(int replica) {
    return runs.ranks(id).isRunning(replica);
  }

  @Override
  public void close() {
    runs.close(id, error);
  }
}

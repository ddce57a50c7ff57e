package org.sparkcollectives.spark;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.spark.elastic.LostRows;
import org.sparkcollectives.spark.elastic.Replica;
import org.sparkcollectives.spark.elastic.ReplicaFunction;
import org.sparkcollectives.spark.internal.driver.ElasticRun;
import org.sparkcollectives.spark.internal.driver.ReplicaJobs;
import org.sparkcollectives.spark.internal.driver.RetryPreflight;
import org.sparkcollectives.spark.internal.elastic.ReplicaRankTask;
import org.sparkcollectives.spark.internal.elastic.ReplicaRdd;
import org.sparkcollectives.spark.internal.elastic.ReplicaTask;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Trains replicas of a model, one for each partition of an RDD or for several, that go on when
 * executors are lost.
 *
 * <p>With replicas of one rank it is an ordinary stage, not a barrier stage: a lost executor ends
 * its own tasks only. The replicas on other executors lose one attempt of one step, and take the
 * next ones without it. Spark starts the lost task again, alone, on whatever executor it has; it
 * receives the state from a replica that lives, and joins in. So slots for all replicas at once are
 * not needed, and dynamic allocation is allowed. The protocol follows PyTorch's torchft. Replicas
 * of several ranks are barrier stages of their own, see {@link #withReplicaSize}.
 *
 * <pre>{@code
 * double[] weights =
 *     ElasticStage.of(rows)
 *         .withMinReplicas(2)
 *         .withCheckpointInterval(500)
 *         .run(
 *             (replica, own) -> {
 *               double[] model = new double[features];
 *               Batches batches = new Batches(own);
 *               replica.state("model", Tensor.of(model));
 *               while (replica.startQuorum() < 10_000) {
 *                 double[] gradient = batches.gradient(model, replica.currentStep());
 *                 replica.allReduce(Tensor.of(gradient), ReduceOp.AVG);
 *                 if (replica.shouldCommit()) {
 *                   descend(model, gradient);
 *                 }
 *               }
 *               return model;
 *             });
 * }</pre>
 *
 * <p><b>What is lost</b>: the rows of a replica do not count while it is away, unless {@link
 * #withLostRows} says otherwise. The registered state has the same bits on all replicas after any
 * failures; with several ranks, on the same rank of all. With {@link LostRows#TAKE_OVER} or {@link
 * LostRows#WAIT} and {@link Replica#sumOverPartitions} they are the bits of an undisturbed run.
 *
 * <p><b>When the run fails.</b> If the function throws, the run fails at once, because it would
 * throw again. If all replicas that have the newest state are lost, it goes on from the last
 * checkpoint ({@link #withCheckpointInterval}), or from a replica that was left behind if that is
 * newer, and logs a warning; without either it fails. It never begins again silently.
 *
 * <p><b>Settings of the application</b>: {@code spark.task.maxFailures=1000}, without which {@link
 * #run} refuses, because Spark counts each lost executor. Masters have limits of their own: {@code
 * spark.deploy.maxExecutorRetries=-1} (standalone), {@code spark.executor.maxNumFailures} (YARN,
 * Kubernetes).
 *
 * <p>Immutable: each {@code with} method returns another stage.
 *
 * @param <T> the type of the rows
 * @see Replica
 */
public final class ElasticStage<T> {

  private final RDD<T> rdd;
  private final int replicaSize;
  private final int minReplicas;
  private final int checkpointInterval;
  private final LostRows lostRows;

  private ElasticStage(
      RDD<T> rdd, int replicaSize, int minReplicas, int checkpointInterval, LostRows lostRows) {
    this.rdd = rdd;
    this.replicaSize = replicaSize;
    this.minReplicas = minReplicas;
    this.checkpointInterval = checkpointInterval;
    this.lostRows = lostRows;
  }

  /** Creates a stage with one replica for each partition of {@code rdd}. */
  public static <T> ElasticStage<T> of(JavaRDD<T> rdd) {
    return of(Objects.requireNonNull(rdd, "rdd").rdd());
  }

  /** Creates a stage with one replica for each partition of {@code rdd}, a Scala RDD. */
  public static <T> ElasticStage<T> of(RDD<T> rdd) {
    return new ElasticStage<>(Objects.requireNonNull(rdd, "rdd"), 1, 1, 0, LostRows.DROP);
  }

  /**
   * Returns this stage with replicas of several ranks, such as the shards of a model that one
   * process cannot hold. Replica {@code i} is the partitions from {@code i * ranks} on; the
   * function runs once for each of them, and {@link Replica#group} has the ranks of its replica.
   *
   * <p>Each replica is a job of its own, with a barrier stage, from a thread of the driver that
   * inherits the local properties of the caller. When one of its ranks is lost, Spark ends the
   * others of this replica, and the job is submitted again as soon as there are slots; the other
   * replicas go on. So all ranks of one replica need slots at the same time, but not those of all
   * replicas. Spark refuses dynamic allocation for barrier stages (SPARK-24942). {@code
   * spark.task.maxFailures} does not matter.
   *
   * @throws IllegalArgumentException if the number of partitions is not a multiple of {@code
   *     ranks}, there are then fewer replicas than a step needs, or {@link LostRows#TAKE_OVER} was
   *     asked for
   */
  public ElasticStage<T> withReplicaSize(int ranks) {
    int partitions = rdd.getNumPartitions();
    if (ranks < 1 || partitions % ranks != 0) {
      throw new IllegalArgumentException(
          "Each replica has the same number of ranks, 1 or more: "
              + partitions
              + " partitions do not make replicas of "
              + ranks
              + ". Call repartition with a multiple of it");
    }
    if (partitions > 0 && minReplicas > partitions / ranks) {
      throw new IllegalArgumentException(
          "A step needs "
              + minReplicas
              + " replicas, but "
              + partitions
              + " partitions make "
              + partitions / ranks
              + " replicas of "
              + ranks
              + " ranks");
    }
    requireOneRank(ranks, lostRows);
    return new ElasticStage<>(rdd, ranks, minReplicas, checkpointInterval, lostRows);
  }

  /**
   * Returns this stage with a least number of replicas for each step; 1 by default. While there are
   * fewer, at the beginning or after losses, the others wait for Spark to start more. With {@link
   * LostRows#WAIT} a step needs all, whatever this number is.
   *
   * @throws IllegalArgumentException if it is not from 1 to the number of replicas
   */
  public ElasticStage<T> withMinReplicas(int replicas) {
    if (replicas < 1 || replicas > replicas()) {
      throw new IllegalArgumentException(
          "A step needs from 1 to "
              + replicas()
              + " replicas, the number of partitions"
              + (replicaSize > 1 ? " by that of ranks" : "")
              + ", not "
              + replicas);
    }
    return new ElasticStage<>(rdd, replicaSize, replicas, checkpointInterval, lostRows);
  }

  /**
   * Returns this stage with checkpoints, for the case that all replicas are lost: after each {@code
   * steps} of them one replica writes the state to the driver's store, while the others wait. The
   * store keeps the last two until the run ends. By default there are none.
   *
   * @throws IllegalArgumentException if it is less than 1
   */
  public ElasticStage<T> withCheckpointInterval(int steps) {
    if (steps < 1) {
      throw new IllegalArgumentException(
          "A checkpoint is kept after 1 step or more, not after " + steps);
    }
    return new ElasticStage<>(rdd, replicaSize, minReplicas, steps, lostRows);
  }

  /**
   * Returns this stage with another answer to the question what becomes of the rows of replicas
   * that are away; {@link LostRows#DROP} by default.
   *
   * <p>With {@link LostRows#TAKE_OVER} the function reads the rows of {@link Replica#partitions} in
   * each step:
   *
   * <pre>{@code
   * (replica, rows) -> {
   *   Map<Integer, Points> points = new TreeMap<>();
   *   replica.state("weights", Tensor.of(weights));
   *   while (replica.startQuorum() < 100) {
   *     points.keySet().retainAll(replica.partitions());
   *     List<double[]> gradients = new ArrayList<>();
   *     for (int each : replica.partitions()) {
   *       gradients.add(
   *           points
   *               .computeIfAbsent(each, number -> new Points(rows.ofPartition(number)))
   *               .gradient(weights));
   *     }
   *     double[] sum = replica.sumOverPartitions(gradients);
   *     if (replica.shouldCommit()) {
   *       descend(weights, sum);
   *     }
   *   }
   *   return weights;
   * }
   * }</pre>
   *
   * <p>The RDD should be persisted: a partition that is not in Spark's cache is computed again by
   * whoever takes it over. It must give the same rows in the same order each time, for the bits to
   * be those of an undisturbed run. The list of all its partitions travels to each executor; that
   * of {@code parallelize} has the rows in it.
   */
  public ElasticStage<T> withLostRows(LostRows answer) {
    Objects.requireNonNull(answer, "answer");
    requireOneRank(replicaSize, answer);
    return new ElasticStage<>(rdd, replicaSize, minReplicas, checkpointInterval, answer);
  }

  private static void requireOneRank(int ranks, LostRows answer) {
    if (ranks > 1 && answer == LostRows.TAKE_OVER) {
      throw new IllegalArgumentException(
          "Replicas of "
              + ranks
              + " ranks do not take over the rows of others: use LostRows.DROP or LostRows.WAIT, or"
              + " replicas of one rank");
    }
  }

  private int replicas() {
    return rdd.getNumPartitions() / replicaSize;
  }

  /** Returns how many replicas a step needs. */
  private int least() {
    return lostRows == LostRows.WAIT ? replicas() : minReplicas;
  }

  /**
   * Trains the replicas now, and returns what the function has returned on one of them, on its rank
   * 0 if it has several; it should return the same on all replicas. They are one job, or one for
   * each replica if it has several ranks. Blocks until all tasks have ended; a replica that Spark
   * starts when others have finished ends at once. An interrupt cancels the jobs.
   *
   * <p>Throws {@code SparkException} if the job fails, or the function throws, with its exception
   * as cause; and {@code InterruptedException} if the thread is interrupted.
   *
   * @throws IllegalStateException if the settings of the application do not let Spark start lost
   *     tasks again, or dynamic allocation is on and replicas have several ranks; the message says
   *     what to set
   * @throws IllegalArgumentException if the RDD has no partitions, or a barrier stage computes it
   */
  public <R> R run(ReplicaFunction<T, R> function) {
    Objects.requireNonNull(function, "function");
    int replicas = replicas();
    if (replicas == 0) {
      throw new IllegalArgumentException("The RDD has no partitions, so there are no replicas");
    }
    if (replicaSize > 1) {
      return runReplicasOfRanks(function);
    }
    RetryPreflight.check(rdd);
    SparkCollectives.install(rdd.sparkContext());
    try (ElasticRun run = ElasticRun.begin(SparkEnv.get(), least())) {
      ReplicaTask<T, R> task =
          new ReplicaTask<>(function, run.id(), replicas, checkpointInterval, lostRows);
      return run.call(() -> collect(tasks(task), run)).get(0);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw ElasticStage.<RuntimeException>unchecked(e);
    }
  }

  private <R> JavaRDD<R> tasks(ReplicaTask<T, R> task) {
    ClassTag<R> any = ClassTag$.MODULE$.apply(Object.class);
    return lostRows == LostRows.TAKE_OVER
        ? JavaRDD.fromRDD(new ReplicaRdd<>(rdd, task), any)
        : rdd.toJavaRDD().mapPartitions(task);
  }

  private <R> R runReplicasOfRanks(ReplicaFunction<T, R> function) {
    ReplicaJobs.check(rdd);
    SparkCollectives.install(rdd.sparkContext());
    ClassTag<R> any = ClassTag$.MODULE$.apply(Object.class);
    try (ElasticRun run = ElasticRun.begin(SparkEnv.get(), least(), replicaSize)) {
      ReplicaJobs.Ranks<T, R> ranks =
          (replica, rows, call) ->
              JavaRDD.fromRDD(
                  rows.barrier()
                      .mapPartitions(
                          new ReplicaRankTask<>(
                              function, run.id(), call, replica, replicas(), checkpointInterval),
                          false,
                          any),
                  any);
      return run.call(() -> ReplicaJobs.run(rdd, run, replicaSize, ranks));
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw ElasticStage.<RuntimeException>unchecked(e);
    }
  }

  private static <R> List<R> collect(JavaRDD<R> results, ElasticRun run) throws Exception {
    JavaFutureAction<List<R>> job = results.collectAsync();
    run.failure().thenAccept(reason -> job.cancel(true));
    try {
      return job.get();
    } catch (InterruptedException e) {
      job.cancel(true);
      throw e;
    } catch (CancellationException | ExecutionException e) {
      SparkException reason = run.failure().getNow(null);
      if (reason != null) {
        throw reason;
      }
      throw e.getCause() instanceof SparkException failed ? failed : e;
    }
  }

  /** Throws any exception without declaring it, as Spark does. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E unchecked(Exception e) throws E {
    throw (E) e;
  }
}

package org.sparkcollectives.spark.internal.elastic;

import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.elastic.LostRows;
import org.sparkcollectives.spark.elastic.ReplicaFunction;
import org.sparkcollectives.spark.elastic.ReplicaRows;
import org.sparkcollectives.spark.elastic.RunOverException;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spark.internal.executor.TaskWorlds;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.store.StoreConfiguration;

/**
 * The task of a replica, which returns one result, or none if it comes too late.
 *
 * @param run identifies the run
 * @param replicas how many replicas there may be
 * @param checkpointInterval after how many steps a checkpoint is kept; 0 for none
 * @param lostRows what becomes of the rows of replicas that are away
 */
public record ReplicaTask<T, R>(
    ReplicaFunction<T, R> function,
    String run,
    int replicas,
    int checkpointInterval,
    LostRows lostRows)
    implements FlatMapFunction<Iterator<T>, R> {

  @Override
  public Iterator<R> call(Iterator<T> rows) throws Exception {
    QuorumReplica replica = begin(TaskContext.get(), run, replicas, checkpointInterval, lostRows);
    ReplicaRows<T> own = rows instanceof ReplicaRows<T> any ? any : new OwnRows<>(rows);
    try {
      return Collections.singletonList(function.call(replica, own)).iterator();
    } catch (RunOverException e) {
      return Collections.emptyIterator();
    }
  }

  /**
   * Begins the replica of a task, in the place of those of its earlier attempts. Blocks for a round
   * trip to the driver. The end of the task ends it.
   *
   * @throws org.sparkcollectives.store.StoreException if the run is over, or a later task has begun
   */
  public static QuorumReplica begin(
      TaskContext task, String run, int replicas, int checkpointInterval, LostRows lostRows) {
    RunRequest self = self(task, run, task.partitionId(), 0);
    return begin(task, self, replicas, checkpointInterval, lostRows, null);
  }

  /** Returns the request of a task as a rank of a replica. */
  static RunRequest self(TaskContext task, String run, int replica, int rank) {
    SparkEnv env = SparkEnv.get();
    return new RunRequest(
        run,
        replica,
        rank,
        new StageAttempt(task.stageId(), task.stageAttemptNumber()),
        task.taskAttemptId(),
        env.blockManager().blockManagerId().host(),
        env.executorId());
  }

  /**
   * Begins a rank of a replica, in the place of its earlier incarnations. Blocks for a round trip
   * to the driver. The end of the task ends it.
   *
   * @param ranks all ranks of the replica; null if it is the only one
   */
  static QuorumReplica begin(
      TaskContext task,
      RunRequest self,
      int replicas,
      int checkpointInterval,
      LostRows lostRows,
      ProcessGroup ranks) {
    SparkEnv env = SparkEnv.get();
    DriverStoreClient store =
        DriverStoreClient.connect(
            env, self, SparkSettings.of(env.conf()).get(StoreConfiguration.TIMEOUT));
    if (store == null) {
      throw new IllegalStateException(
          "Replica "
              + self.replica()
              + " has no driver to ask: the store of "
              + self.run()
              + " is gone");
    }
    ReconfigurableGroup group = TaskWorlds.ofReplica(task, self, replicas, store);
    ReplicaVote vote =
        ranks == null
            ? ReplicaVote.alone(() -> TaskWorlds.alone(task, self, store))
            : ReplicaVote.of(ranks);
    return new QuorumReplica(
        self,
        group,
        store,
        vote,
        lostRows,
        replicas,
        checkpointInterval,
        () -> task.isInterrupted() || task.isCompleted());
  }
}

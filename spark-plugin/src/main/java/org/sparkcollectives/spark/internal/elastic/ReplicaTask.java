package org.sparkcollectives.spark.internal.elastic;

import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
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
    SparkEnv env = SparkEnv.get();
    RunRequest self =
        new RunRequest(
            run,
            task.partitionId(),
            new StageAttempt(task.stageId(), task.stageAttemptNumber()),
            task.taskAttemptId(),
            env.blockManager().blockManagerId().host(),
            env.executorId());
    DriverStoreClient store =
        DriverStoreClient.connect(
            env, self, SparkSettings.of(env.conf()).get(StoreConfiguration.TIMEOUT));
    if (store == null) {
      throw new IllegalStateException(
          "Replica " + self.replica() + " has no driver to ask: the store of " + run + " is gone");
    }
    ReconfigurableGroup group = TaskWorlds.ofReplica(task, self, replicas, store);
    return new QuorumReplica(
        self,
        group,
        store,
        lostRows,
        replicas,
        checkpointInterval,
        () -> task.isInterrupted() || task.isCompleted());
  }
}

package org.sparkcollectives.spark.internal.elastic;

import java.io.Serializable;
import java.util.Collections;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.elastic.LostRows;
import org.sparkcollectives.spark.elastic.ReplicaFunction;
import org.sparkcollectives.spark.elastic.RunOverException;
import org.sparkcollectives.spark.internal.executor.TaskWorlds;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spi.RankTuning;
import scala.collection.Iterator;
import scala.collection.JavaConverters;
import scala.runtime.AbstractFunction1;

/** The task of a rank of a replica. Rank 0 returns one result, or none if the replica is late. */
public final class ReplicaRankTask<T, R> extends AbstractFunction1<Iterator<T>, Iterator<R>>
    implements Serializable {

  private static final long serialVersionUID = 1;

  private final ReplicaFunction<T, R> function;
  private final String run;
  private final String call;
  private final int replica;
  private final int replicas;
  private final int checkpointInterval;

  /**
   * Creates the task of each rank of a replica.
   *
   * @param run identifies the run
   * @param call identifies the replica's jobs
   * @param replicas how many replicas there may be
   * @param checkpointInterval after how many steps a checkpoint is kept; 0 for none
   */
  public ReplicaRankTask(
      ReplicaFunction<T, R> function,
      String run,
      String call,
      int replica,
      int replicas,
      int checkpointInterval) {
    this.function = function;
    this.run = run;
    this.call = call;
    this.replica = replica;
    this.replicas = replicas;
    this.checkpointInterval = checkpointInterval;
  }

  @Override
  @SuppressWarnings("deprecation") // The converters' successors do not exist in Scala 2.12.
  public Iterator<R> apply(Iterator<T> rows) {
    return JavaConverters.asScalaIterator(call(JavaConverters.asJavaIterator(rows)));
  }

  private java.util.Iterator<R> call(java.util.Iterator<T> rows) {
    BarrierTaskContext task = BarrierTaskContext.get();
    ProcessGroup ranks =
        TaskWorlds.of(
            task,
            SparkSettings.of(SparkEnv.get().conf()),
            RankTuning.DEFAULT,
            GroupOptions.defaults(),
            call);
    RunRequest self = ReplicaTask.self(task, run, replica, ranks.rank());
    QuorumReplica own =
        ReplicaTask.begin(task, self, replicas, checkpointInterval, LostRows.DROP, ranks);
    try {
      R result = function.call(own, new OwnRows<>(rows));
      return ranks.rank() == 0
          ? Collections.singletonList(result).iterator()
          : Collections.emptyIterator();
    } catch (RunOverException e) {
      return Collections.emptyIterator();
    } catch (Exception e) {
      throw ReplicaRankTask.<RuntimeException>unchecked(e);
    }
  }

  /** Throws any exception without declaring it, as Spark's functions do. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E unchecked(Exception e) throws E {
    throw (E) e;
  }
}

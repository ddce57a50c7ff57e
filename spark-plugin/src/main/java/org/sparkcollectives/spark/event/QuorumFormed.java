package org.sparkcollectives.spark.event;

import java.util.List;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Says which replicas of a call of {@code ElasticStage} take the next steps together.
 *
 * @param run the number of the call in its application
 * @param time when, in milliseconds since 1970
 * @param quorum the number of the quorum, from 1; one may be missing where many are formed
 * @param step how many steps the state has seen with which it begins
 * @param checkpoint whether that is the state of a checkpoint
 * @param lost how many attempts of a step have been lost so far, this run's
 * @param healed how often a replica has received the state of another so far, this run's
 * @param size the number of its replicas
 * @param replicas the replicas, of which at most {@value GroupMade#MOST_RANKS} are listed
 */
public record QuorumFormed(
    long run,
    long time,
    long quorum,
    long step,
    boolean checkpoint,
    long lost,
    long healed,
    int size,
    List<ReplicaPlace> replicas)
    implements SparkListenerEvent {

  public QuorumFormed {
    replicas = Bounds.list(replicas, GroupMade.MOST_RANKS);
  }
}

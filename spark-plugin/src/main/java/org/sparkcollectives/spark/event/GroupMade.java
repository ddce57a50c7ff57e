package org.sparkcollectives.spark.event;

import java.util.List;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Says that a group has been made. The driver posts it when the first rank has reported, and again
 * when it knows all ranks.
 *
 * @param id the number of the group in its application; all events of a group have it
 * @param name the group's name, which the user may have chosen
 * @param time when, in milliseconds since 1970
 * @param stage the id of the stage whose tasks are the ranks
 * @param stageAttempt the number of the stage's attempt
 * @param size the number of ranks
 * @param ranks the ranks, of which at most {@value #MOST_RANKS} are listed
 */
public record GroupMade(
    long id, String name, long time, int stage, int stageAttempt, int size, List<RankPlace> ranks)
    implements SparkListenerEvent {

  /** The largest number of ranks that an event lists. */
  public static final int MOST_RANKS = 1024;

  static final int MOST_NAME_CHARACTERS = 256;

  public GroupMade {
    name = Bounds.text(name, MOST_NAME_CHARACTERS);
    ranks = Bounds.list(ranks, MOST_RANKS);
  }
}

package org.sparkcollectives.spark.event;

import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Says that a group has ended.
 *
 * @param id the number of the group in its application
 * @param name the group's name
 * @param time when, in milliseconds since 1970
 * @param failed whether it failed; otherwise its ranks closed it
 * @param sums the sums since the group was made, as far as the driver knows them
 */
public record GroupEnded(long id, String name, long time, boolean failed, GroupSums sums)
    implements SparkListenerEvent {

  public GroupEnded {
    name = Bounds.text(name, GroupMade.MOST_NAME_CHARACTERS);
    sums = sums == null ? GroupSums.NONE : sums;
  }
}

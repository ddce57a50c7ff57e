package org.sparkcollectives.spark.event;

import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Says what a group has done so far. The driver posts one every few seconds at the most, and none
 * if the group has done nothing since the one before.
 *
 * @param id the number of the group in its application
 * @param name the group's name
 * @param time when, in milliseconds since 1970
 * @param sums the sums since the group was made
 */
public record GroupProgress(long id, String name, long time, GroupSums sums)
    implements SparkListenerEvent {

  public GroupProgress {
    name = Bounds.text(name, GroupMade.MOST_NAME_CHARACTERS);
    sums = sums == null ? GroupSums.NONE : sums;
  }
}

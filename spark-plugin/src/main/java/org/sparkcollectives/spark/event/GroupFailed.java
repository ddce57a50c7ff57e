package org.sparkcollectives.spark.event;

import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Says why a group failed.
 *
 * @param id the number of the group in its application
 * @param name the group's name
 * @param time when, in milliseconds since 1970
 * @param rank the rank that failed first; -1 if it is not known
 * @param host its host
 * @param executor the id of its executor
 * @param kind what happened to it, as {@code Failure.Kind} has it
 * @param text the message or the stack of it, cut to {@value #MOST_TEXT_CHARACTERS} characters
 * @param dump the name of the folder with the dumps of the flight recorders; empty if there is none
 * @param finding what the dumps tell; empty if it is not known
 */
public record GroupFailed(
    long id,
    String name,
    long time,
    int rank,
    String host,
    String executor,
    String kind,
    String text,
    String dump,
    String finding)
    implements SparkListenerEvent {

  /** The largest number of characters of a text. */
  public static final int MOST_TEXT_CHARACTERS = 4096;

  private static final int MOST_PATH_CHARACTERS = 1024;

  public GroupFailed {
    name = Bounds.text(name, GroupMade.MOST_NAME_CHARACTERS);
    host = Bounds.text(host, GroupMade.MOST_NAME_CHARACTERS);
    executor = Bounds.text(executor, GroupMade.MOST_NAME_CHARACTERS);
    kind = Bounds.text(kind, GroupMade.MOST_NAME_CHARACTERS);
    text = Bounds.text(text, MOST_TEXT_CHARACTERS);
    dump = Bounds.text(dump, MOST_PATH_CHARACTERS);
    finding = Bounds.text(finding, MOST_TEXT_CHARACTERS);
  }
}

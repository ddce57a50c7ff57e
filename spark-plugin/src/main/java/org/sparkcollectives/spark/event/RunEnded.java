package org.sparkcollectives.spark.event;

import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Says that a call of {@code ElasticStage} has ended.
 *
 * @param run the number of the call in its application
 * @param time when, in milliseconds since 1970
 * @param failure why it failed, cut to {@value GroupFailed#MOST_TEXT_CHARACTERS} characters; empty
 *     if it did not
 */
public record RunEnded(long run, long time, String failure) implements SparkListenerEvent {

  public RunEnded {
    failure = Bounds.text(failure, GroupFailed.MOST_TEXT_CHARACTERS);
  }
}

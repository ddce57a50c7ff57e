package org.sparkcollectives.spark.event;

import java.util.Map;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Says that the library was installed on the driver.
 *
 * @param time when, in milliseconds since 1970
 * @param version the library's version; empty if it is not known
 * @param sparkVersion the version of Spark
 * @param settings the settings of this library that were set; secrets are redacted
 */
public record LibraryStarted(
    long time, String version, String sparkVersion, Map<String, String> settings)
    implements SparkListenerEvent {

  /** The value of a setting that is secret. */
  public static final String REDACTED = "*********(redacted)";

  private static final int MOST_CHARACTERS = 200;

  public LibraryStarted {
    version = Bounds.text(version, MOST_CHARACTERS);
    sparkVersion = Bounds.text(sparkVersion, MOST_CHARACTERS);
    settings = Bounds.map(settings);
  }
}

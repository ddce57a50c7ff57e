package org.sparkcollectives.spark.internal.ui;

import java.util.Map;
import org.apache.spark.util.kvstore.KVIndex;
import org.sparkcollectives.spark.event.LibraryStarted;

/** The library as it was installed on the driver: one row for each application. */
public final class LibraryRow {

  /** The key of the only row. */
  static final String KEY = "library";

  @KVIndex public String key = KEY;
  public String version = "";
  public String sparkVersion = "";
  public Map<String, String> settings = Map.of();

  /** Creates an empty row; Jackson fills it. */
  public LibraryRow() {}

  LibraryRow(LibraryStarted started) {
    version = started.version();
    sparkVersion = started.sparkVersion();
    settings = started.settings();
  }
}

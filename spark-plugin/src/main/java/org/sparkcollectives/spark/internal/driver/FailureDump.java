package org.sparkcollectives.spark.internal.driver;

import java.util.Optional;

/**
 * The dumps that the ranks of a stage made when their groups failed.
 *
 * @param folder their folder; empty if none has arrived
 * @param finding what they tell; absent until they have been analysed, and empty if that failed
 */
record FailureDump(String folder, Optional<String> finding) {

  /** No dump has arrived. */
  static final FailureDump NONE = new FailureDump("", Optional.empty());

  /** Returns whether there are dumps that have not been analysed. */
  boolean awaitsFinding() {
    return !folder.isEmpty() && finding.isEmpty();
  }
}

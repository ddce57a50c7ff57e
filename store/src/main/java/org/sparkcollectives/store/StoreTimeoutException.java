package org.sparkcollectives.store;

import java.time.Duration;
import java.util.List;

/** Thrown when the keys that a call waits for do not appear in time. */
public final class StoreTimeoutException extends StoreException {

  private final String[] missingKeys;
  private final Duration waited;

  /**
   * Creates the exception.
   *
   * @param message the whole message
   * @param missingKeys the keys that were missing at the end
   * @param waited how long the call waited
   */
  public StoreTimeoutException(String message, List<String> missingKeys, Duration waited) {
    super(message);
    this.missingKeys = missingKeys.toArray(new String[0]);
    this.waited = waited;
  }

  /** Returns the keys that did not exist when the time was over. */
  public List<String> missingKeys() {
    return List.of(missingKeys);
  }

  /** Returns how long the call waited. */
  public Duration waited() {
    return waited;
  }
}

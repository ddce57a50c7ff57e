package org.sparkcollectives.store;

import java.time.Duration;
import java.util.List;

/** A call waited for keys that did not appear in time. */
public final class StoreTimeoutException extends StoreException {

  private final String[] missingKeys;
  private final Duration waited;

  /** With the whole message, the keys that were missing at the end, and the time waited. */
  public StoreTimeoutException(String message, List<String> missingKeys, Duration waited) {
    super(message);
    this.missingKeys = missingKeys.toArray(new String[0]);
    this.waited = waited;
  }

  /** The keys that did not exist when the time was over. */
  public List<String> missingKeys() {
    return List.of(missingKeys);
  }

  /** How long the call waited. */
  public Duration waited() {
    return waited;
  }
}

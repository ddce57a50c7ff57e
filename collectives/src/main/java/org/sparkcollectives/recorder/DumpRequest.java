package org.sparkcollectives.recorder;

import java.nio.charset.StandardCharsets;
import org.sparkcollectives.store.Store;

/**
 * The signal to dump, in a world group's part of the store: the n-th request is a key of its own,
 * for which the ranks wait. May be used by any process that sees the store.
 */
public final class DumpRequest {

  private static final String COUNTER = "flight-recorder/requests";

  private DumpRequest() {}

  /** The key of the n-th request, from 1; its value is the reason. */
  public static String key(long number) {
    return "flight-recorder/request/" + number;
  }

  /** What the dumps of the n-th request are filed under. */
  public static String occasion(long number) {
    return "request-" + number;
  }

  /**
   * Asks all ranks to dump. Takes two calls of the store.
   *
   * @return the number of the request
   */
  public static long make(Store groupStore, String reason) {
    long number = groupStore.add(COUNTER, 1);
    groupStore.set(key(number), reason.getBytes(StandardCharsets.UTF_8));
    return number;
  }
}

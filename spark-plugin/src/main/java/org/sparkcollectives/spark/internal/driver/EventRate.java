package org.sparkcollectives.spark.internal.driver;

import java.util.function.LongSupplier;

/**
 * Limits how often something is posted: so many times at once, and after that so many times in a
 * second. For one thread.
 */
final class EventRate {

  private static final double MILLIS_IN_A_SECOND = 1000;

  private final LongSupplier millis;
  private final int atOnce;
  private final int perSecond;
  private double left;
  private long countedMillis;

  EventRate(LongSupplier millis, int atOnce, int perSecond) {
    this.millis = millis;
    this.atOnce = atOnce;
    this.perSecond = perSecond;
    this.left = atOnce;
    this.countedMillis = millis.getAsLong();
  }

  /** Returns whether one more may be posted now, and counts it if so. */
  boolean allows() {
    long now = millis.getAsLong();
    // The clock may be set back.
    long passed = Math.max(0, now - countedMillis);
    left = Math.min(atOnce, left + passed * perSecond / MILLIS_IN_A_SECOND);
    countedMillis = now;
    if (left < 1) {
      return false;
    }
    left--;
    return true;
  }
}

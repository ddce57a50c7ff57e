package org.sparkcollectives.ml.testing;

/** The failure of one of Spark's own fits, to which that of a barrier stage is compared. */
public final class SparksFailure {

  private SparksFailure() {}

  /** Returns the message of the first cause, without the SQL state behind it. */
  public static String messageOf(Runnable fit) {
    try {
      fit.run();
    } catch (Throwable e) {
      Throwable first = e;
      while (first.getCause() != null) {
        first = first.getCause();
      }
      return first.getMessage().lines().findFirst().orElseThrow();
    }
    throw new AssertionError("Spark's own estimator does not refuse this");
  }
}

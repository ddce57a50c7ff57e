package org.sparkcollectives.ml.internal.stage;

/** Recognises the RDDs that Spark does not compute in a barrier stage. */
final class BarrierChains {

  /** The class of the exception is private to Spark's scheduler. */
  private static final String UNSUPPORTED = "BarrierJobUnsupportedRDDChainException";

  private BarrierChains() {}

  /** Returns whether {@code failure} says that the partitions cannot be ranks as they are. */
  static boolean isUnsupported(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause.getClass().getSimpleName().equals(UNSUPPORTED)) {
        return true;
      }
    }
    return false;
  }
}

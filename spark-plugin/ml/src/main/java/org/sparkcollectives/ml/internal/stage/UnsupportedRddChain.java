package org.sparkcollectives.ml.internal.stage;

/** Recognises failures of jobs whose chain of RDDs Spark does not compute in a barrier stage. */
final class UnsupportedRddChain {

  /** The class of the exception is private to Spark's scheduler. */
  private static final String UNSUPPORTED = "BarrierJobUnsupportedRDDChainException";

  private UnsupportedRddChain() {}

  /** Returns whether {@code failure} says that the partitions cannot be ranks as they are. */
  static boolean isCauseOf(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause.getClass().getSimpleName().equals(UNSUPPORTED)) {
        return true;
      }
    }
    return false;
  }
}

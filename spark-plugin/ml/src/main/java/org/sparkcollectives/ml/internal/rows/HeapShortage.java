package org.sparkcollectives.ml.internal.rows;

import java.util.Optional;

/** Thrown by a rank whose rows are more than it may hold in its heap. */
public final class HeapShortage extends RuntimeException {

  private static final long serialVersionUID = 1;

  private static final String BEGINNING = "The rows of a rank take more than the ";

  HeapShortage(long capacity) {
    super(
        BEGINNING
            + (capacity >> 20)
            + " MiB of heap that it may hold. Give the executors more memory, or use more executors");
  }

  /**
   * Returns the message of this exception if a job failed because of it; else empty. Spark reports
   * the exception of a rank as text.
   */
  public static Optional<String> in(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      int begin = String.valueOf(cause.getMessage()).indexOf(BEGINNING);
      if (begin >= 0) {
        return cause.getMessage().substring(begin).lines().findFirst();
      }
    }
    return Optional.empty();
  }
}

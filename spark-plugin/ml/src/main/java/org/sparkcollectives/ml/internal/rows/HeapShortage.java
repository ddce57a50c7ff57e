package org.sparkcollectives.ml.internal.rows;

import java.util.Optional;
import org.sparkcollectives.spi.failure.Causes;

/** Thrown by a rank whose rows and state are more than it may hold in its heap. */
public final class HeapShortage extends RuntimeException {

  private static final long serialVersionUID = 1;

  private static final String BEGINNING = "The rows and the model of a rank take more than the ";

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
    return Causes.of(failure)
        .map(cause -> String.valueOf(cause.getMessage()))
        .filter(message -> message.contains(BEGINNING))
        .findFirst()
        .flatMap(message -> message.substring(message.indexOf(BEGINNING)).lines().findFirst());
  }
}

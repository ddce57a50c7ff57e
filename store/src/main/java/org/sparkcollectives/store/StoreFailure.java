package org.sparkcollectives.store;

import java.time.Duration;
import java.util.List;

/** A failure in the form in which it is sent: no exception class of either side is serialized. */
record StoreFailure(int status, String message, List<String> missingKeys, Duration waited) {

  /** The status of a reply that reports no failure. */
  static final int GRANTED = 0;

  private static final int REFUSED = 1;
  private static final int TIMED_OUT = 2;
  private static final int QUEUE_EMPTY = 3;
  private static final int BAD_ARGUMENT = 4;
  private static final int CLOSED = 5;

  static StoreFailure of(Throwable failure) {
    if (failure instanceof StoreTimeoutException timeout) {
      return new StoreFailure(
          TIMED_OUT, timeout.getMessage(), timeout.missingKeys(), timeout.waited());
    }
    if (failure instanceof StoreException || failure instanceof IllegalArgumentException) {
      int status =
          failure instanceof QueueEmptyException
              ? QUEUE_EMPTY
              : failure instanceof StoreException ? REFUSED : BAD_ARGUMENT;
      return new StoreFailure(
          status, String.valueOf(failure.getMessage()), List.of(), Duration.ZERO);
    }
    if (failure instanceof OutOfMemoryError) {
      String memory =
          "the process of the store is out of memory: "
              + failure.getMessage()
              + ". Give it a larger heap, or store less";
      return new StoreFailure(REFUSED, memory, List.of(), Duration.ZERO);
    }
    int status = failure instanceof IllegalStateException ? CLOSED : REFUSED;
    return new StoreFailure(status, String.valueOf(failure), List.of(), Duration.ZERO);
  }

  /**
   * Returns the failure as a client sees it whose keys all start with {@code keyPrefix}, and that
   * does not know the prefix.
   */
  StoreFailure withoutPrefix(String keyPrefix) {
    return new StoreFailure(
        status,
        KeyText.withoutPrefix(keyPrefix, message),
        missingKeys.stream()
            .map(key -> key.startsWith(keyPrefix) ? key.substring(keyPrefix.length()) : key)
            .toList(),
        waited);
  }

  RuntimeException toException() {
    return switch (status) {
      case TIMED_OUT -> new StoreTimeoutException(message, missingKeys, waited);
      case QUEUE_EMPTY -> new QueueEmptyException(message);
      case BAD_ARGUMENT -> new IllegalArgumentException(message);
      case CLOSED -> new StoreConnectionException("the store was closed at the other side");
      default -> new StoreException(message);
    };
  }
}

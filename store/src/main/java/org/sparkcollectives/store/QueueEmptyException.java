package org.sparkcollectives.store;

/** Thrown when a call that does not wait asks for a value of an empty queue. */
public final class QueueEmptyException extends StoreException {

  /**
   * Creates the exception.
   *
   * @param message names the queue
   */
  public QueueEmptyException(String message) {
    super(message);
  }
}

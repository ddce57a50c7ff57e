package org.sparkcollectives.store;

/** A value was to be taken, without waiting, from a queue that has none. */
public final class QueueEmptyException extends StoreException {

  /** With a message that names the queue. */
  public QueueEmptyException(String message) {
    super(message);
  }
}

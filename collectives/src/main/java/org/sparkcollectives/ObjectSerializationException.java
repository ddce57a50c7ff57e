package org.sparkcollectives;

/**
 * Thrown when an object could not be serialised on the rank that gave it, or not be deserialised on
 * this rank. The message names the class, the rank, and what to do. The group stays usable.
 */
public final class ObjectSerializationException extends CollectiveException {

  /** Creates an exception with its cause; that of another rank is a {@link RemoteCause}. */
  public ObjectSerializationException(String message, Throwable cause) {
    super(message, cause);
  }
}

package org.sparkcollectives;

/**
 * An object could not be turned into bytes on the rank that gave it, or not be read from them on
 * this rank; the message names the class, the rank, and what to do. The group stays usable.
 */
public final class ObjectSerializationException extends CollectiveException {

  /** With what went wrong and its cause; that of another rank is a {@link RemoteCause}. */
  public ObjectSerializationException(String message, Throwable cause) {
    super(message, cause);
  }
}

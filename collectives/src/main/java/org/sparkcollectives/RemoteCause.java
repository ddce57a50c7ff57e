package org.sparkcollectives;

/**
 * The exception of another rank, as text, because its class need not exist here. The message is the
 * other rank's stack trace.
 */
public final class RemoteCause extends RuntimeException {

  /** Creates an exception with the other rank's stack trace. */
  public RemoteCause(String stackTrace) {
    super(stackTrace, null, false, false);
  }
}

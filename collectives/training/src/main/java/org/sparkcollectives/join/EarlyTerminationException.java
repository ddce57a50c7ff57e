package org.sparkcollectives.join;

import org.sparkcollectives.CollectiveException;

/**
 * Thrown on all ranks, after equal numbers of steps, when one has run out of rows and {@link
 * JoinOptions#throwOnEarlyTermination} is set. The group stays usable.
 */
public final class EarlyTerminationException extends CollectiveException {

  private static final long serialVersionUID = 1;

  EarlyTerminationException(String message) {
    super(message);
  }
}

package org.sparkcollectives.spi;

import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.Work;

/**
 * A backend's part in a {@link PersistentCollective}: what it has prepared for a call that is made
 * again and again. Must hold nothing that has to be freed.
 */
@FunctionalInterface
public interface PreparedCollective {

  /**
   * Begins the operation, as the backend's method for the plain call does. Not called before the
   * work of the last start is done.
   */
  Work start();
}

package org.sparkcollectives;

import java.util.OptionalDouble;

/**
 * An operation that a backend has under way by itself, on a device or in another library, as those
 * see it who wait for it. Used by any number of threads.
 */
public interface BackendOperation {

  /**
   * Looks whether it is done. Called again and again by threads that await it; must not block.
   *
   * @throws CollectiveException if it failed
   */
  boolean isDone();

  /**
   * Makes what is put into {@code stream} from now on wait for the operation; the calling thread
   * does not.
   */
  void synchronize(DeviceStream stream);

  /** What the device measured, in milliseconds, once it is done; empty if it did not measure. */
  default OptionalDouble durationMillis() {
    return OptionalDouble.empty();
  }
}

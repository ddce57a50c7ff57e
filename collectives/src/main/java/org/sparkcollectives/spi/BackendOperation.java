package org.sparkcollectives.spi;

import java.util.OptionalDouble;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DeviceStream;

/**
 * An operation that a backend runs itself, on a device or in another library, as its waiters see
 * it. Used by any number of threads.
 */
public interface BackendOperation {

  /**
   * Returns whether the operation is done. Called repeatedly by threads that await it; must not
   * block.
   *
   * @throws CollectiveException if it failed
   */
  boolean isDone();

  /**
   * Makes work that is enqueued on {@code stream} from now on wait for the operation. The calling
   * thread does not wait.
   */
  void synchronize(DeviceStream stream);

  /**
   * Returns the duration that the device measured, in milliseconds, once the operation is done;
   * empty if it did not measure.
   */
  default OptionalDouble durationMillis() {
    return OptionalDouble.empty();
  }
}

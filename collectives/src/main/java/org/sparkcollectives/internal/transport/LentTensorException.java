package org.sparkcollectives.internal.transport;

import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.spi.tensor.DirectTensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Thrown when this rank uses a tensor of another rank of its JVM, and that tensor throws: it is the
 * other rank that fails.
 */
public final class LentTensorException extends CollectiveException {

  private final int owner;

  private LentTensorException(int owner, Throwable thrown) {
    super("the tensor of rank " + owner + " threw " + thrown, thrown);
    this.owner = owner;
  }

  /**
   * Throws this if {@code thrown} arose in a tensor that another rank has lent.
   *
   * @param owner the group rank that has lent it
   */
  public static void throwIfArose(Throwable thrown, int owner, HostTensor lent) {
    if (DirectTensor.arose(thrown, lent)) {
      throw new LentTensorException(owner, thrown);
    }
  }

  /** Returns the group rank whose tensor it is. */
  public int owner() {
    return owner;
  }
}

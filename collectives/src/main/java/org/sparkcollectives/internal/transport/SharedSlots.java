package org.sparkcollectives.internal.transport;

import java.nio.ByteBuffer;
import java.util.List;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Memory that all ranks of a group see, with room for a copy of what each rank gives to a small
 * operation: in one step all have all.
 *
 * <p>One operation goes so:
 *
 * <pre>{@code
 * slots.publish(mine);                 // never waits for more than the operation before
 * ByteBuffer theirs = slots.of(peer);  // waits until that rank has published
 * }</pre>
 *
 * <p>Every rank publishes, also one that has nothing to give; which slots it reads is the
 * algorithm's to say. A rank may go on to its next operation at once. Only the thread that runs the
 * group's current operation may use this. All calls throw what {@link Cancellation#check} throws
 * once the group has failed.
 */
public interface SharedSlots {

  /** The data that a rank can give to an operation. */
  int MOST_BYTES = 8192;

  /** Returns this rank. */
  int rank();

  /** Returns the number of ranks. */
  int size();

  /** Copies {@code tensors} into this rank's slot, one after the other, for all to see. */
  void publish(List<HostTensor> tensors);

  /**
   * Returns what a rank has published, this rank's own included: in native byte order, from its
   * position on. The buffer is used again at the next call.
   *
   * @throws org.sparkcollectives.CollectiveMismatchException if that rank is in another operation
   */
  ByteBuffer of(int rank);

  /** Waits until all ranks have published, and checks that all are in the same operation. */
  void awaitAll();
}

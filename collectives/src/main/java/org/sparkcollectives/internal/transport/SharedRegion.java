package org.sparkcollectives.internal.transport;

import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Memory that all ranks of a group see: each publishes the tensors of its current operation to the
 * others, who read them where they lie.
 *
 * <p>One operation goes so:
 *
 * <pre>{@code
 * region.publish(mine);                    // waits until all ranks publish theirs
 * ... region.publishedBy(peer, 0, ...) ...  // each rank reads what the others publish
 * region.finish();                      // waits until nobody reads any rank's tensors any more
 * }</pre>
 *
 * <p><b>A rank writes to its own tensors only</b>, unless {@link #mayWriteTo} says otherwise. What
 * another rank has computed it copies from there, once that rank has {@link #publish published} it.
 * A process that is stopped in the middle, for however long, thus cannot change what another rank
 * has taken back after a failure. It can only read it, and then its own operation fails: {@link
 * #leave()} and {@link #finish()} throw when a rank has given up whose tensors were read.
 *
 * <p>Between its own parts a rank calls {@link #check()} every now and then, so that a failure does
 * not wait for the end of a large tensor.
 *
 * <p>Only the thread that runs the group's current operation may use it. All calls throw what
 * {@link Cancellation#check} throws once the group has failed.
 */
public interface SharedRegion {

  /** Returns this rank. */
  int rank();

  /** Returns the number of ranks. */
  int size();

  /**
   * Publishes this rank's tensors and waits until all ranks publish theirs.
   *
   * @throws org.sparkcollectives.CollectiveMismatchException if another rank is in another
   *     operation
   */
  void publish(List<HostTensor> tensors);

  /**
   * One of the tensors that a rank publishes, this rank's own included.
   *
   * @param index its place in the list that was published
   * @throws org.sparkcollectives.CollectiveMismatchException if it has another type or count
   */
  HostTensor publishedBy(int rank, int index, DType dtype, long count);

  /**
   * Returns whether the other ranks may write to one of the tensors that a rank publishes, its own
   * included: all ranks get the same answer. Each of them may until it leaves the operation or
   * waits in it. That is so of scratch memory, and where no rank can be stopped without the others:
   * there, a rank that gives up after a failure waits until nobody writes. Who writes calls {@link
   * #check()} after every few microseconds, so that this wait is short.
   *
   * @param index its place in the list that was published
   */
  boolean mayWriteTo(int rank, int index);

  /**
   * Publishes how much of its result this rank has written to its published tensors. The algorithm
   * says what is counted; in each operation the count begins with 0, and only grows. An operation
   * in which a rank publishes its progress ends with {@link #finish()}.
   */
  void publishProgress(long amount);

  /** Returns how far a rank has come in this operation, as it has published. */
  long progressOf(int rank);

  /** Waits until a rank has come so far. */
  void awaitProgress(int rank, long amount);

  /** Throws what has ended the group, if it has ended. */
  void check();

  /**
   * Publishes that this rank is done, and waits until all are: nobody reads its tensors any more.
   */
  void finish();

  /**
   * Publishes that this rank is done, and waits for nobody: for operations in which no other rank
   * reads what this rank publishes, or that wait for all later on, in {@link #finish()} or in
   * another {@link #publish}.
   */
  void leave();
}

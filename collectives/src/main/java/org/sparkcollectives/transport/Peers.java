package org.sparkcollectives.transport;

import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.tensor.HostTensor;

/**
 * The ranks of a group as an algorithm sees them: who I am, how many we are, a path to each.
 *
 * <p>Only the thread that runs the group's current operation may use it.
 */
public interface Peers {

  /** This rank. */
  int rank();

  /** The number of ranks. */
  int size();

  /**
   * The path to a rank, connected at the first message.
   *
   * @param rank any rank but this one
   */
  Pair pair(int rank);

  /** The path to the next rank of the ring. */
  default Pair next() {
    return pair((rank() + 1) % size());
  }

  /** The path to the previous rank of the ring. */
  default Pair previous() {
    return pair((rank() + size() - 1) % size());
  }

  /** The memory that all ranks of the group see; null where there is none. */
  default SharedRegion region() {
    return null;
  }

  /**
   * The memory that all ranks of the group see, if all of them show tensors that lie there in the
   * current operation. All ranks ask alike, and get alike. Where it is not null, the same tensors
   * are to be shown next.
   */
  default SharedRegion regionFor(List<HostTensor> shown) {
    return region();
  }

  /**
   * Memory with undefined contents that this rank can show in the current operation beside the
   * tensors that it shares, the same each time; null where any memory will do.
   */
  default HostTensor showable(DType dtype, long count) {
    return null;
  }

  /** Room for what all ranks give to the current operation, where it is small; else null. */
  default SharedSlots slots() {
    return null;
  }

  /**
   * Memory that all ranks of the group see, for what they have asked {@link #regionFor} in vain in
   * the current operation; null where there is none.
   */
  default SharedStaging staging() {
    return null;
  }

  /** How far the ranks are from each other. */
  default Reach reach() {
    return Reach.NETWORK;
  }

  /** The ranks as those that are near and those that are not; null where all are alike. */
  default Hierarchy hierarchy() {
    return null;
  }

  /** The ways over which a large operation can go at once; null where there is only one. */
  default Stripes stripes() {
    return null;
  }

  /**
   * The same, for operations of some of the ranks, over which all have stripes; null where some of
   * these have a better path to each other.
   */
  default Stripes stripesAmong(int... ranks) {
    return null;
  }

  /** Waits until every send that was begun is done. */
  void flush();
}

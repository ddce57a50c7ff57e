package org.sparkcollectives.spark.internal.elastic;

import java.util.List;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A part of a replica's state whose size is known only when it is saved. Its calls come from the
 * thread that begins a step, one after another, and may block.
 */
public interface StatePart {

  /** Returns the present state as bytes, in tensors that stay as they are until the next call. */
  List<HostTensor> save();

  /**
   * Returns tensors for the bytes that {@link #load} takes. Those of an earlier call may never have
   * been filled.
   *
   * @param sizes in bytes, as {@link #save} has made them on another replica
   */
  List<HostTensor> room(long[] sizes);

  /** Makes what lies in the last {@link #room} the present state. */
  void load();
}

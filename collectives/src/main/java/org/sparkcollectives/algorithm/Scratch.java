package org.sparkcollectives.algorithm;

import java.util.HashMap;
import java.util.Map;
import org.sparkcollectives.DType;
import org.sparkcollectives.tensor.HostTensor;

/**
 * Memory for what is on its way, kept from one operation of a group to the next so that small ones
 * need not allocate. Only the thread that runs the group's current operation may use it; what it
 * gives out is good until the end of that operation.
 */
final class Scratch {

  /** Larger pieces cost less to allocate than to keep. */
  static final long LARGEST_KEPT_BYTES = 256 * 1024;

  private record Place(DType dtype, int index) {}

  private final Map<Place, HostTensor> kept = new HashMap<>();

  /**
   * Memory with undefined contents.
   *
   * @param index tells pieces of one type apart that are used at the same time
   */
  HostTensor piece(DType dtype, int index, long count) {
    if (count * dtype.bytes() > LARGEST_KEPT_BYTES) {
      return HostTensor.allocate(dtype, count);
    }
    Place place = new Place(dtype, index);
    HostTensor piece = kept.get(place);
    if (piece == null || piece.count() < count) {
      piece = HostTensor.allocate(dtype, Long.highestOneBit(Math.max(64, count * 2 - 1)));
      kept.put(place, piece);
    }
    return piece.slice(0, count);
  }

  /** A copy of {@code tensor}. */
  HostTensor copy(int index, HostTensor tensor) {
    HostTensor copy = piece(tensor.dtype(), index, tensor.count());
    copy.copyFrom(0, tensor, 0, tensor.count());
    return copy;
  }
}

package org.sparkcollectives.internal.algorithm;

import java.lang.ref.SoftReference;
import java.util.HashMap;
import java.util.Map;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Memory for what is on its way, kept from one operation of a group to the next, so that a loop of
 * the same operations does not allocate. Only the thread that runs the group's current operation
 * may use it; what it gives out is good until the end of that operation.
 */
final class Scratch {

  /** Larger pieces may be taken back when the heap is short of memory. */
  static final long LARGEST_HELD_BYTES = 256 * 1024;

  private record Place(DType dtype, int index) {}

  private final Map<Place, HostTensor> held = new HashMap<>();
  private final Map<Place, SoftReference<HostTensor>> large = new HashMap<>();

  /**
   * Memory with undefined contents.
   *
   * @param index tells pieces of one type apart that are used at the same time
   */
  HostTensor piece(DType dtype, int index, long count) {
    Place place = new Place(dtype, index);
    HostTensor piece =
        count * dtype.bytes() <= LARGEST_HELD_BYTES ? held(place, count) : large(place, count);
    return piece.slice(0, count);
  }

  private HostTensor held(Place place, long count) {
    HostTensor piece = held.get(place);
    if (piece == null || piece.count() < count) {
      // Rounded up, so that slowly growing sizes do not allocate each time.
      piece = HostTensor.allocate(place.dtype, Long.highestOneBit(Math.max(64, count * 2 - 1)));
      held.put(place, piece);
    }
    return piece;
  }

  private HostTensor large(Place place, long count) {
    SoftReference<HostTensor> reference = large.get(place);
    HostTensor piece = reference == null ? null : reference.get();
    if (piece == null || piece.count() < count) {
      piece = HostTensor.allocate(place.dtype, count);
      large.put(place, new SoftReference<>(piece));
    }
    return piece;
  }

  /** A copy of {@code tensor}. */
  HostTensor copy(int index, HostTensor tensor) {
    HostTensor copy = piece(tensor.dtype(), index, tensor.count());
    copy.copyFrom(0, tensor, 0, tensor.count());
    return copy;
  }
}

package org.sparkcollectives.internal.algorithm;

import java.util.List;
import java.util.function.Consumer;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Several all-reduces of one type as one: small tensors travel together in one, which costs a copy
 * and saves the steps of all but one; large ones go where they lie, one after the other.
 */
final class CoalescedAllReduce {

  /** The size in bytes from which the bytes of a tensor cost more than its steps. */
  private static final long PACKED_BYTES = 256 << 10;

  /** Reduces each of {@code tensors} in place by {@code allReduce}. */
  void run(List<HostTensor> tensors, Consumer<HostTensor> allReduce) {
    long total = tensors.stream().mapToLong(HostTensor::count).sum();
    if (tensors.size() < 2 || total * tensors.get(0).dtype().bytes() > PACKED_BYTES) {
      tensors.forEach(allReduce);
      return;
    }
    HostTensor packed = HostTensor.allocate(tensors.get(0).dtype(), total);
    long offset = 0;
    for (HostTensor tensor : tensors) {
      packed.copyFrom(offset, tensor, 0, tensor.count());
      offset += tensor.count();
    }
    allReduce.accept(packed);
    offset = 0;
    for (HostTensor tensor : tensors) {
      tensor.copyFrom(0, packed, offset, tensor.count());
      offset += tensor.count();
    }
  }
}

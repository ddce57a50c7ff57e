package org.sparkcollectives.internal.algorithm;

import java.util.List;
import java.util.function.Consumer;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Several all-reduces of one type as one: small tensors travel together in one, which costs a copy
 * and saves the steps of all but one; large ones go where they lie, one after the other.
 */
final class CoalescedAllReduce {

  /** The size in bytes from which the bytes of a tensor cost more than its steps. */
  private static final long PACKED_BYTES = 256 << 10;

  /** Returns whether these travel together in one all-reduce. */
  static boolean isPacked(List<HostTensor> tensors) {
    return tensors.size() > 1 && sum(tensors) <= PACKED_BYTES;
  }

  /** Returns the size of each all-reduce that {@link #run} runs. */
  static long[] bytes(List<HostTensor> tensors) {
    return isPacked(tensors)
        ? new long[] {sum(tensors)}
        : tensors.stream().mapToLong(HostTensor::byteSize).toArray();
  }

  private static long sum(List<HostTensor> tensors) {
    return tensors.stream().mapToLong(HostTensor::byteSize).sum();
  }

  /** Reduces each of {@code tensors} in place by {@code allReduce}. */
  void run(List<HostTensor> tensors, Consumer<HostTensor> allReduce) {
    if (!isPacked(tensors)) {
      tensors.forEach(allReduce);
      return;
    }
    DType dtype = tensors.get(0).dtype();
    HostTensor packed = HostTensor.allocate(dtype, sum(tensors) / dtype.bytes());
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

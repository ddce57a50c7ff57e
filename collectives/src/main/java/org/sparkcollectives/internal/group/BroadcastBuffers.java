package org.sparkcollectives.internal.group;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.Tensor;

/**
 * Assigns tensors to the buffers of a coalesced broadcast. Depends on types, sizes and order only,
 * so that all ranks come to the same assignment.
 *
 * <p>There is one open buffer for each type. A tensor joins it, and the buffer is closed once it
 * has at least the limit. A tensor that has the limit by itself, or lies on a device, is sent alone
 * from where it is, without a copy.
 */
final class BroadcastBuffers {

  /**
   * The most that a buffer is filled to, so that an array can hold it: it may get twice as much.
   */
  private static final long LARGEST_LIMIT = 512L << 20;

  private BroadcastBuffers() {}

  /** Returns the indices of the tensors in each buffer, in the order of their first tensors. */
  static List<List<Integer>> assign(List<Tensor> tensors, long bufferBytes) {
    long limit = Math.min(bufferBytes, LARGEST_LIMIT);
    List<List<Integer>> buffers = new ArrayList<>();
    Map<DType, Open> open = new HashMap<>();
    for (int index = 0; index < tensors.size(); index++) {
      Tensor tensor = tensors.get(index);
      if (tensor.byteSize() >= limit || tensor.device().type() != Device.Type.CPU) {
        buffers.add(List.of(index));
        continue;
      }
      Open joined = open.computeIfAbsent(tensor.dtype(), type -> new Open());
      joined.indices.add(index);
      joined.bytes += tensor.byteSize();
      if (joined.bytes >= limit) {
        buffers.add(joined.indices);
        open.remove(tensor.dtype());
      }
    }
    open.values().forEach(each -> buffers.add(each.indices));
    buffers.sort(Comparator.comparing(each -> each.get(0)));
    return buffers;
  }

  private static final class Open {
    private final List<Integer> indices = new ArrayList<>();
    private long bytes;
  }
}

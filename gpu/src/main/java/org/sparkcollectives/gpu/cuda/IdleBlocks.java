package org.sparkcollectives.gpu.cuda;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The memory of a GPU that nobody uses: reusable blocks by stream and size, and blocks that can
 * only be given back to the driver. Not thread-safe.
 */
final class IdleBlocks {

  /** A reused block may exceed the wanted size by this part of it: a quarter. */
  private static final int TOLERATED_WASTE = 4;

  private final Map<StreamKey, NavigableMap<Long, Deque<DeviceBlock>>> reusable = new HashMap<>();
  private final List<DeviceBlock> stranded = new ArrayList<>();
  private long bytes;

  /** Returns the bytes of all idle blocks. */
  long bytes() {
    return bytes;
  }

  /**
   * Takes the smallest block of a stream that is large enough and not much larger. Returns null if
   * there is none.
   */
  DeviceBlock take(long size, StreamKey stream) {
    NavigableMap<Long, Deque<DeviceBlock>> sizes = reusable.get(stream);
    Map.Entry<Long, Deque<DeviceBlock>> best = sizes == null ? null : sizes.ceilingEntry(size);
    if (best == null || best.getKey() - size > size / TOLERATED_WASTE) {
      return null;
    }
    // The block that was freed last is the likeliest to be in the GPU's cache.
    DeviceBlock block = best.getValue().pop();
    if (best.getValue().isEmpty()) {
      sizes.remove(best.getKey());
    }
    if (sizes.isEmpty()) {
      reusable.remove(stream);
    }
    bytes -= block.bytes();
    return block;
  }

  /** Adds a block that the next allocation in its stream may reuse. */
  void add(DeviceBlock block) {
    reusable
        .computeIfAbsent(block.stream(), none -> new TreeMap<>())
        .computeIfAbsent(block.bytes(), none -> new ArrayDeque<>())
        .push(block);
    bytes += block.bytes();
  }

  /**
   * Adds a block that cannot be reused, because no stream orders later work behind its last use.
   */
  void addStranded(DeviceBlock block) {
    stranded.add(block);
    bytes += block.bytes();
  }

  /** Takes out all blocks. */
  List<DeviceBlock> drain() {
    List<DeviceBlock> all = new ArrayList<>(stranded);
    reusable.values().forEach(sizes -> sizes.values().forEach(all::addAll));
    stranded.clear();
    reusable.clear();
    bytes = 0;
    return all;
  }
}

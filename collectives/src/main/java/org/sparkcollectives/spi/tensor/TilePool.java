package org.sparkcollectives.spi.tensor;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A pool of tiles: arrays of {@value #LENGTH} slots in which elements are converted and reduced
 * while they are in the first-level cache. HotSpot vectorizes a loop over two arrays only if it
 * indexes both alike; elements at different offsets satisfy that once they are copied into tiles.
 *
 * <p>At most {@value #IDLE} idle tiles of each type are kept in a JVM; beyond that they are left to
 * the garbage collector. They are plain arrays, tied to no thread and no class loader. Thread-safe;
 * nothing blocks.
 */
public final class TilePool {

  /** The slots of a tile: two tiles of the widest type fill half of a 32 KiB cache. */
  public static final int LENGTH = 1024;

  private static final int IDLE = 16;

  private static final Map<ArrayType, AtomicReferenceArray<Object>> POOLS =
      new EnumMap<>(ArrayType.class);

  static {
    for (ArrayType type : ArrayType.values()) {
      POOLS.put(type, new AtomicReferenceArray<>(IDLE));
    }
  }

  private TilePool() {}

  /** Borrows an array of {@link #LENGTH} slots with any content. */
  public static Object borrow(ArrayType type) {
    AtomicReferenceArray<Object> idle = POOLS.get(type);
    int start = start();
    for (int i = 0; i < IDLE; i++) {
      int slot = (start + i) & (IDLE - 1);
      if (idle.get(slot) != null) {
        Object tile = idle.getAndSet(slot, null);
        if (tile != null) {
          return tile;
        }
      }
    }
    return type.allocate(LENGTH);
  }

  /** Returns a tile of {@link #borrow} to the pool. Called once for each. */
  public static void giveBack(ArrayType type, Object tile) {
    AtomicReferenceArray<Object> idle = POOLS.get(type);
    int start = start();
    for (int i = 0; i < IDLE; i++) {
      int slot = (start + i) & (IDLE - 1);
      if (idle.get(slot) == null && idle.compareAndSet(slot, null, tile)) {
        return;
      }
    }
  }

  /**
   * Returns the slot at which a thread begins to search; it differs by thread, to avoid contention.
   */
  private static int start() {
    return Thread.currentThread().hashCode();
  }
}

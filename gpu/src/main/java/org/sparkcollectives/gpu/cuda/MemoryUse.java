package org.sparkcollectives.gpu.cuda;

import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps memory from being used for something else while an operation reads or writes it, also after
 * {@link DeviceMemory#free}, and after nobody can reach it. Ends once; thread-safe.
 */
public final class MemoryUse implements AutoCloseable {

  private final List<DeviceMemory.Allocation> used = new ArrayList<>();

  private MemoryUse() {}

  /**
   * Begins.
   *
   * @throws IllegalStateException if some of it was freed
   */
  public static MemoryUse of(List<DeviceMemory> memory) {
    MemoryUse use = new MemoryUse();
    try {
      for (DeviceMemory each : memory) {
        use.add(each.allocation());
      }
      return use;
    } catch (IllegalStateException e) {
      use.close();
      throw e;
    } finally {
      // Else it might become garbage, and be freed, between being found and being used.
      Reference.reachabilityFence(memory);
    }
  }

  private synchronized void add(DeviceMemory.Allocation allocation) {
    if (allocation != null) {
      allocation.use();
      used.add(allocation);
    }
  }

  /** The operation has used it for the last time, or will have in the stream that it belongs to. */
  @Override
  public void close() {
    end(true);
  }

  /**
   * Nobody knows whether the GPU still uses it, as after an operation that failed: once nobody else
   * does it is given back to the driver, after the GPU has come to an end, and not used again.
   */
  public void abandon() {
    end(false);
  }

  private synchronized void end(boolean done) {
    used.forEach(each -> each.release(done));
    used.clear();
  }
}

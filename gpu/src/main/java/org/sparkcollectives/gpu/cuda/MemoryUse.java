package org.sparkcollectives.gpu.cuda;

import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps memory from being reused while an operation reads or writes it, even after {@link
 * DeviceMemory#free}, and after it becomes unreachable. Ends once; thread-safe.
 */
public final class MemoryUse implements AutoCloseable {

  private final List<DeviceMemory.Allocation> used = new ArrayList<>();

  private MemoryUse() {}

  /**
   * Begins a use.
   *
   * @throws IllegalStateException if some of the memory was freed
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
      // Otherwise the memory might become garbage, and be freed, before the use is counted.
      Reference.reachabilityFence(memory);
    }
  }

  private synchronized void add(DeviceMemory.Allocation allocation) {
    if (allocation != null) {
      allocation.use();
      used.add(allocation);
    }
  }

  /**
   * Ends the use after the operation's last access, or when only work in the stream of the memory
   * still accesses it.
   */
  @Override
  public void close() {
    end(true);
  }

  /**
   * Ends the use when it is unknown whether the GPU still accesses the memory, as after a failed
   * operation. Once nobody else uses it, it goes back to the driver after the GPU has finished, and
   * is not reused.
   */
  public void abandon() {
    end(false);
  }

  private synchronized void end(boolean done) {
    used.forEach(each -> each.release(done));
    used.clear();
  }
}

package org.sparkcollectives.gpu.cuda;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * What this process shares on a GPU: the context, and the memory that is kept in it for later, GPU
 * memory and pinned host memory. There is one per GPU, for as long as somebody holds its context.
 * Thread-safe.
 */
final class SharedDevice implements PrimaryContext.Owner {

  private static final ConcurrentMap<Key, SharedDevice> ALL = new ConcurrentHashMap<>();

  private final Key key;
  private final PrimaryContext context;
  private final DeviceAllocator allocator;
  private final PinnedPool pinned;

  private record Key(Cuda cuda, int ordinal) {}

  private SharedDevice(Key key) {
    this.key = key;
    this.context = new PrimaryContext(key.cuda, key.ordinal, this);
    this.allocator = new DeviceAllocator(context);
    this.pinned = new PinnedPool(context, PinnedPool.LEAST_IDLE_BYTES);
  }

  /**
   * Returns what is shared on a GPU, with its context held; the caller releases that. Blocks while
   * the driver creates the context, if there is none.
   */
  static SharedDevice of(Cuda cuda, int ordinal) {
    Key key = new Key(cuda, ordinal);
    while (true) {
      SharedDevice device = ALL.computeIfAbsent(key, SharedDevice::new);
      if (device.context.tryHold()) {
        return device;
      }
      // The last holder is releasing it, which may take long: meanwhile a new one may be created.
      ALL.remove(key, device);
    }
  }

  /** Frees the memory that is kept. */
  @Override
  public void released() {
    ALL.remove(key, this);
    allocator.freeIdle();
    pinned.freeIdle();
  }

  PrimaryContext context() {
    return context;
  }

  DeviceAllocator allocator() {
    return allocator;
  }

  PinnedPool pinned() {
    return pinned;
  }
}

package org.sparkcollectives.gpu;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaException;

/**
 * A piece of a GPU's memory that was allocated here. Freed when somebody says so; else, once nobody
 * can reach it any more, by the next allocation on the same GPU, which so needs no thread of its
 * own. Not by one on another: to free memory blocks until the GPU is idle, which may take until a
 * rank of this JVM that is on the other GPU has begun its part in a collective.
 */
final class DeviceMemory {

  private static final Logger LOG = LoggerFactory.getLogger(DeviceMemory.class);

  /** By the ordinal of the GPU. */
  private static final Map<Integer, ReferenceQueue<DeviceMemory>> UNREACHABLE =
      new ConcurrentHashMap<>();

  private static final Set<Allocation> ALLOCATIONS = ConcurrentHashMap.newKeySet();

  private final Allocation allocation;

  private DeviceMemory(CudaDevice device, long address, long id) {
    this.allocation = new Allocation(this, device, address, id);
    if (address != 0) {
      ALLOCATIONS.add(allocation);
    }
  }

  /** What is left to do when the memory is unreachable. */
  private static final class Allocation extends PhantomReference<DeviceMemory> {
    private final CudaDevice device;
    private final long address;
    private final long id;

    Allocation(DeviceMemory memory, CudaDevice device, long address, long id) {
      super(memory, unreachable(device));
      this.device = device;
      this.address = address;
      this.id = id;
    }

    void free() {
      if (!ALLOCATIONS.remove(this)) {
        return;
      }
      long previous = device.enter();
      try {
        // It may have gone with the GPU's context, and another be where it was.
        if (device.cuda().allocationId(address) == id) {
          device.cuda().free(address);
        }
      } finally {
        device.leave(previous);
      }
    }
  }

  private static ReferenceQueue<DeviceMemory> unreachable(CudaDevice device) {
    return UNREACHABLE.computeIfAbsent(device.ordinal(), ordinal -> new ReferenceQueue<>());
  }

  /** New memory, of undefined content; none if {@code bytes} is 0. */
  static DeviceMemory allocate(CudaDevice device, long bytes) {
    freeUnreachable(device);
    if (bytes == 0) {
      return new DeviceMemory(device, 0, 0);
    }
    long previous = device.enter();
    try {
      long address = device.cuda().allocate(bytes);
      return new DeviceMemory(device, address, device.cuda().allocationId(address));
    } finally {
      device.leave(previous);
    }
  }

  private static void freeUnreachable(CudaDevice device) {
    ReferenceQueue<DeviceMemory> queue = unreachable(device);
    for (Reference<?> each = queue.poll(); each != null; each = queue.poll()) {
      try {
        ((Allocation) each).free();
      } catch (CudaException e) {
        // Its device may be gone, and the memory with it; the allocation that comes is another's.
        LOG.debug("Unreachable memory of a GPU could not be freed: {}", e.toString());
      }
    }
  }

  long address() {
    return allocation.address;
  }

  /** Frees it, unless it is freed. */
  void free() {
    allocation.free();
  }
}

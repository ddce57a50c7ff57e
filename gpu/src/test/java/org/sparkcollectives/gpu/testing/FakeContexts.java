package org.sparkcollectives.gpu.testing;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.gpu.cuda.CudaException;

/** The primary contexts of the devices of a fake, and the context of each thread. */
final class FakeContexts {

  private static final int INVALID_CONTEXT = 201;

  @SuppressWarnings("ThreadLocalUsage") // Belongs to one driver.
  private final ThreadLocal<Long> current = ThreadLocal.withInitial(() -> 0L);

  /** How often the context of each device is retained. */
  private final Map<Integer, AtomicLong> retained = new ConcurrentHashMap<>();

  long current() {
    return current.get();
  }

  void setCurrent(long context) {
    if (context != 0 && retained.get((int) context - 1).get() <= 0) {
      throw new CudaException("cuCtxSetCurrent", INVALID_CONTEXT, "the context is gone");
    }
    current.set(context);
  }

  /** Returns the device of the thread's context. Throws if the thread has none. */
  int device() {
    long context = current.get();
    if (context == 0) {
      throw new CudaException(
          "a call on thread " + Thread.currentThread().getName(),
          INVALID_CONTEXT,
          "no context is current on this thread");
    }
    return (int) context - 1;
  }

  long retain(int device) {
    retained.computeIfAbsent(device, none -> new AtomicLong()).incrementAndGet();
    return device + 1L;
  }

  void release(int device) {
    retained.get(device).decrementAndGet();
  }

  /** Returns the contexts that are left. */
  String left() {
    StringBuilder text = new StringBuilder();
    retained.forEach(
        (device, count) -> {
          if (count.get() != 0) {
            text.append(" context of ").append(device);
          }
        });
    return text.toString();
  }
}

package org.sparkcollectives.spi.tensor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/**
 * The memory of a tensor each of whose uses throws from some use on, as that of a tensor does which
 * is closed meanwhile.
 */
public final class FaultyMemory extends LeasedMemory {

  private final int sound;
  private final Supplier<Throwable> fault;
  private final AtomicInteger uses = new AtomicInteger();

  /**
   * Creates memory that can be used so often.
   *
   * @param fault makes what later uses throw: a RuntimeException or an Error
   */
  public FaultyMemory(int sound, Supplier<Throwable> fault) {
    super(() -> {});
    this.sound = sound;
    this.fault = fault;
  }

  /** Returns a tensor of zeros in this memory. */
  public Tensor tensor(DType dtype, int count) {
    ByteBuffer bytes =
        ByteBuffer.allocateDirect(count * dtype.bytes()).order(ByteOrder.nativeOrder());
    return DirectTensor.within(dtype, bytes, this, 0, count);
  }

  /** Returns whether a use of the memory has thrown. */
  public boolean hasThrown() {
    return uses.get() > sound;
  }

  @Override
  public void acquire() {
    if (uses.incrementAndGet() > sound) {
      Throwable thrown = fault.get();
      if (thrown instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) thrown;
    }
    super.acquire();
  }
}

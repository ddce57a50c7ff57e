package org.sparkcollectives.symmetric;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.sparkcollectives.DType;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.DirectTensor;

/**
 * The memory of one rank, as this process has mapped it. A caller keeps it mapped while it uses the
 * flags; tensors in it may be used at any time, and throw once it is unmapped.
 */
final class RankMemory implements AutoCloseable {

  private static final VarHandle FLAGS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

  private final SharedMemory memory;
  private final Path owner;
  private final ByteBuffer buffer;
  private final int begin;

  /**
   * Creates a view.
   *
   * @param memory this process's own mapping, which is closed with the view
   * @param path where the rank that made it has it open
   */
  RankMemory(SharedMemory memory, String path) {
    DirectTensor all = (DirectTensor) memory.tensor(DType.UINT8, 0, memory.bytes());
    this.memory = memory;
    this.owner = Path.of(path);
    this.buffer = all.wrapped();
    this.begin = all.wrappedOffset();
  }

  Tensor tensor(DType dtype, long offset, long count) {
    return memory.tensor(dtype, offset, count);
  }

  /** Returns whether a flag is set; then what was written before it was set can be read. */
  boolean isSet(int flag) {
    return (int) FLAGS.getAcquire(buffer, begin + flag) != 0;
  }

  /** Sets a flag, after what this thread has written, unless it is set. */
  boolean set(int flag) {
    return !isSet(flag) && FLAGS.compareAndSet(buffer, begin + flag, 0, 1);
  }

  /** Takes a flag back, if it is set. */
  boolean take(int flag) {
    return isSet(flag) && FLAGS.compareAndSet(buffer, begin + flag, 1, 0);
  }

  /** Returns whether the process that made it still has it open. */
  boolean isOpenAtItsOwner() {
    return Files.exists(owner);
  }

  @Override
  public void close() {
    memory.close();
  }
}

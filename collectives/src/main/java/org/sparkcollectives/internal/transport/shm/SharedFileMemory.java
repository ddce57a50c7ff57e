package org.sparkcollectives.internal.transport.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Consumer;
import org.sparkcollectives.DType;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.DirectTensor;

/** Memory of a {@link SharedFile} for tensors of any type. Thread-safe. */
public final class SharedFileMemory implements SharedMemory {

  /** The first byte lies at the beginning of a cache line of the mapping, the proof before it. */
  private static final int PADDING = 64 - SharedFile.NONCE_BYTES;

  private final SharedFile file;
  private final ByteBuffer memory;
  private final long bytes;
  private final Consumer<SharedFileMemory> onClose;
  private boolean closed;

  private SharedFileMemory(SharedFile file, long bytes, Consumer<SharedFileMemory> onClose) {
    this.file = file;
    this.memory = file.memory();
    this.bytes = bytes;
    this.onClose = onClose;
  }

  /**
   * Returns zeros in a new file.
   *
   * @param folder where it is made; it has no name there afterwards
   * @throws IOException if there is no room, or it would be larger than a buffer can be
   */
  public static SharedFileMemory create(Path folder, long bytes) throws IOException {
    return create(folder, bytes, closed -> {});
  }

  /** Returns the same, with what is told when it is closed. */
  static SharedFileMemory create(Path folder, long bytes, Consumer<SharedFileMemory> onClose)
      throws IOException {
    SharedFile file = SharedFile.create(folder, padded(bytes));
    return new SharedFileMemory(file, bytes, onClose);
  }

  /**
   * Returns the memory that another process, or this one, has made.
   *
   * @throws IOException if it is not here, or another file
   */
  public static SharedFileMemory open(String path, byte[] nonce, long bytes) throws IOException {
    SharedFile file = SharedFile.open(SharedFile.Key.parse(path), nonce, padded(bytes));
    // The mapping stays without it, and so many ranks do not use up the descriptors.
    file.keep();
    return new SharedFileMemory(file, bytes, closed -> {});
  }

  private static int padded(long bytes) throws IOException {
    if (bytes < 0 || bytes > Integer.MAX_VALUE - SharedFile.NONCE_BYTES - PADDING) {
      throw new IOException(
          String.format(
              Locale.ROOT,
              "%,d bytes are more than one piece of shared memory can have, %,d",
              bytes,
              Integer.MAX_VALUE - SharedFile.NONCE_BYTES - PADDING));
    }
    return (int) bytes + PADDING;
  }

  /** Returns the file, and the buffer of it that all tensors lie in. */
  SharedFile file() {
    return file;
  }

  ByteBuffer memory() {
    return memory;
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public String path() {
    return file.key().path().toString();
  }

  @Override
  public byte[] nonce() {
    return file.nonce();
  }

  @Override
  public long begin() {
    return SharedFile.NONCE_BYTES + PADDING;
  }

  @Override
  public SharedMemory asScratch() {
    file.setScratch();
    return this;
  }

  @Override
  public synchronized Tensor tensor(DType dtype, long offset, long count) {
    if (closed) {
      throw new IllegalStateException("The shared memory is closed");
    }
    long most = offset < 0 || offset > bytes ? -1 : (bytes - offset) / dtype.bytes();
    if (count < 0 || count > most) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%s x %,d from byte %,d on are not within the %,d bytes of the shared memory",
              dtype.label(),
              count,
              offset,
              bytes));
    }
    return DirectTensor.within(dtype, memory, file.lease(), PADDING + (int) offset, (int) count);
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      file.close();
    }
    onClose.accept(this);
  }
}

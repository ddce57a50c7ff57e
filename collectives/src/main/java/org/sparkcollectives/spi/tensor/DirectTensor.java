package org.sparkcollectives.spi.tensor;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.DType;

/**
 * A tensor in a direct buffer, or in a range of one. It keeps the buffer that the caller wrapped
 * reachable, and its memory with it, as long as the tensor or a view of it is.
 */
public final class DirectTensor extends HostTensor {

  private final ByteBuffer owner;
  private final ByteBuffer bytes;
  private final int start;
  private final Buffer view;

  /**
   * The lease that is acquired while the memory is used; null for memory that lives as long as the
   * buffer.
   */
  private final LeasedMemory lease;

  private DirectTensor(
      DType dtype,
      ByteBuffer owner,
      LeasedMemory lease,
      int start,
      ByteBuffer bytes,
      long[] shape) {
    super(dtype, bytes.capacity() / dtype.bytes(), shape);
    this.owner = owner;
    this.lease = lease;
    this.bytes = bytes;
    this.start = start;
    this.view = ArrayType.of(dtype).view(bytes);
  }

  static DirectTensor over(DType dtype, ByteBuffer buffer) {
    if (dtype == null) {
      throw new IllegalArgumentException("The type of the elements is null");
    }
    if (buffer == null) {
      throw new IllegalArgumentException("The buffer is null");
    }
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException(
          "The buffer is on the heap: wrap its array instead, or use ByteBuffer.allocateDirect");
    }
    if (buffer.isReadOnly()) {
      throw new IllegalArgumentException("The buffer is read-only; a tensor is read and written");
    }
    if (buffer.order() != ByteOrder.nativeOrder()) {
      throw new IllegalArgumentException(
          "The buffer is in "
              + buffer.order()
              + " order: call order(ByteOrder.nativeOrder()) on it before it is filled");
    }
    if (buffer.remaining() % dtype.bytes() != 0) {
      throw new IllegalArgumentException(
          "The "
              + grouped(buffer.remaining())
              + " bytes from the buffer's position to its limit are no whole number of "
              + dtype.label()
              + " elements, which take "
              + dtype.bytes()
              + " bytes each");
    }
    long count = buffer.remaining() / dtype.bytes();
    ByteBuffer bytes = buffer.slice().order(ByteOrder.nativeOrder());
    return new DirectTensor(dtype, buffer, null, buffer.position(), bytes, new long[] {count});
  }

  /**
   * Returns a tensor over a part of a direct buffer in native byte order, whatever its position and
   * limit.
   *
   * @param start where it begins in the buffer, in bytes
   */
  public static DirectTensor within(DType dtype, ByteBuffer owner, int start, int count) {
    return within(dtype, owner, null, start, count);
  }

  /**
   * Returns a tensor over a part of a direct buffer whose memory is freed when {@code lease} is
   * closed. Later uses of the tensor throw {@link IllegalStateException}.
   */
  public static DirectTensor within(
      DType dtype, ByteBuffer owner, LeasedMemory lease, int start, int count) {
    ByteBuffer bytes =
        owner.slice(start, Math.multiplyExact(count, dtype.bytes())).order(ByteOrder.nativeOrder());
    return new DirectTensor(dtype, owner, lease, start, bytes, new long[] {count});
  }

  private void acquire() {
    if (lease != null) {
      try {
        lease.acquire();
      } catch (RuntimeException | Error e) {
        e.addSuppressed(new Fault(this));
        throw e;
      }
    }
  }

  private void release() {
    if (lease != null) {
      lease.release();
    }
  }

  /** Returns the very buffer that was wrapped. */
  public ByteBuffer wrapped() {
    return owner;
  }

  /** Returns where this tensor begins in {@link #wrapped}, in bytes. */
  public int wrappedOffset() {
    return start;
  }

  @Override
  public Object array() {
    return null;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // The comparison is of the memory, not of the content.
  public boolean overlaps(TensorView other) {
    return other instanceof DirectTensor direct
        && direct.owner == owner
        && start < direct.start + direct.byteSize()
        && direct.start < start + byteSize()
        && count() > 0
        && direct.count() > 0;
  }

  @Override
  public boolean isSameMemoryAs(TensorView other) {
    return overlaps(other)
        && ((DirectTensor) other).start == start
        && other.byteSize() == byteSize();
  }

  @Override
  DirectTensor view(long offset, long count, long[] shape) {
    ByteBuffer range =
        bytes.slice(byteIndex(offset), byteIndex(count)).order(ByteOrder.nativeOrder());
    return new DirectTensor(dtype(), owner, lease, start + byteIndex(offset), range, shape);
  }

  @Override
  public void read(long offset, int count, ByteBuffer destination) {
    checkMove(offset, count, destination);
    int position = destination.position();
    acquire();
    try {
      destination.put(position, bytes, byteIndex(offset), byteIndex(count));
    } finally {
      release();
    }
    destination.position(position + byteIndex(count));
  }

  @Override
  public void write(long offset, int count, ByteBuffer source) {
    checkMove(offset, count, source);
    int position = source.position();
    acquire();
    try {
      bytes.put(byteIndex(offset), source, position, byteIndex(count));
    } finally {
      release();
    }
    source.position(position + byteIndex(count));
  }

  @Override
  public void toArray(long offset, int count, Object array, int index) {
    checkRange(offset, count);
    acquire();
    try {
      ArrayType.of(dtype(), array).get(view, slotIndex(offset), array, index, slotIndex(count));
    } finally {
      release();
    }
  }

  @Override
  public void fromArray(long offset, int count, Object array, int index) {
    checkRange(offset, count);
    acquire();
    try {
      ArrayType.of(dtype(), array).put(view, slotIndex(offset), array, index, slotIndex(count));
    } finally {
      release();
    }
  }

  @Override
  public void copyFrom(long offset, HostTensor source, long sourceOffset, long count) {
    checkCopy(offset, source, sourceOffset, count);
    if (source instanceof HeapTensor heap) {
      fromArray(offset, (int) count, heap.array(), heap.arrayIndex(sourceOffset));
    } else if (source instanceof DirectTensor direct) {
      copyFromDirect(offset, direct, sourceOffset, count);
    }
  }

  private void copyFromDirect(long offset, DirectTensor source, long sourceOffset, long count) {
    acquire();
    try {
      source.acquire();
      try {
        bytes.put(
            byteIndex(offset), source.bytes, source.byteIndex(sourceOffset), byteIndex(count));
      } finally {
        source.release();
      }
    } finally {
      release();
    }
  }

  private int byteIndex(long elements) {
    return (int) (elements * dtype().bytes());
  }

  private int slotIndex(long elements) {
    return (int) (elements * ArrayType.slots(dtype()));
  }

  /**
   * Returns whether an exception arose in memory that is a part of {@code tensor}. A thread copies
   * between two tensors, one of which may be another rank's, and the exception itself does not say
   * which of them it was.
   */
  public static boolean arose(Throwable thrown, HostTensor tensor) {
    for (Throwable each : thrown.getSuppressed()) {
      if (each instanceof Fault fault && fault.tensor != null) {
        return fault.tensor.overlaps(tensor);
      }
    }
    return false;
  }

  /** Says of the exception that suppresses it in whose memory that arose. */
  private static final class Fault extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient DirectTensor tensor;

    Fault(DirectTensor tensor) {
      super("in the memory of " + tensor, null, false, false);
      this.tensor = tensor;
    }
  }
}

package org.sparkcollectives.spi.tensor;

import java.nio.ByteBuffer;
import org.sparkcollectives.DType;

/** A tensor in a primitive array on the heap, or in a range of one. */
public final class HeapTensor extends HostTensor {

  /** The most slots that HotSpot can allocate: a few less than {@code Integer.MAX_VALUE}. */
  private static final int MAX_SLOTS = Integer.MAX_VALUE - 8;

  private final Object array;
  private final ArrayType type;
  private final int slots;
  private final int start;

  private HeapTensor(
      DType dtype, Object array, ArrayType type, int start, long count, long[] shape) {
    super(dtype, count, shape);
    this.array = array;
    this.type = type;
    this.slots = ArrayType.slots(dtype);
    this.start = start;
  }

  static HeapTensor over(DType dtype, Object array) {
    ArrayType type = ArrayType.of(dtype, array);
    int length = type.length(array);
    int slots = ArrayType.slots(dtype);
    if (length % slots != 0) {
      throw new IllegalArgumentException(
          "A tensor of "
              + dtype.label()
              + " takes two entries of a "
              + type
              + " for an element; this one has the odd length "
              + grouped(length));
    }
    long count = length / slots;
    return new HeapTensor(dtype, array, type, 0, count, new long[] {count});
  }

  static HeapTensor zeros(DType dtype, long count) {
    if (dtype == null) {
      throw new IllegalArgumentException("The type of the elements is null");
    }
    if (count < 0) {
      throw new IllegalArgumentException("The count is negative: " + grouped(count));
    }
    int slots = ArrayType.slots(dtype);
    if (count > MAX_SLOTS / slots) {
      throw new IllegalArgumentException(
          describe(dtype, count)
              + " does not fit into one Java array, which holds "
              + grouped(MAX_SLOTS / slots)
              + " of these at most: use several tensors");
    }
    ArrayType type = dtype == DType.BOOL ? ArrayType.BOOLEAN : ArrayType.of(dtype);
    Object array = type.allocate((int) count * slots);
    return new HeapTensor(dtype, array, type, 0, count, new long[] {count});
  }

  @Override
  public Object array() {
    return array;
  }

  /**
   * Returns the slot of {@link #array()} at which the element {@code offset} of this tensor begins.
   */
  public int arrayIndex(long offset) {
    return (int) (start + offset * slots);
  }

  @Override
  public boolean overlaps(TensorView other) {
    return other instanceof HeapTensor heap
        && heap.array == array
        && count() > 0
        && heap.count() > 0
        && arrayIndex(0) < heap.arrayIndex(heap.count())
        && heap.arrayIndex(0) < arrayIndex(count());
  }

  @Override
  public boolean isSameMemoryAs(TensorView other) {
    return overlaps(other)
        && ((HeapTensor) other).arrayIndex(0) == arrayIndex(0)
        && other.count() == count();
  }

  @Override
  HeapTensor view(long offset, long count, long[] shape) {
    return new HeapTensor(dtype(), array, type, arrayIndex(offset), count, shape);
  }

  @Override
  public void read(long offset, int count, ByteBuffer destination) {
    checkMove(offset, count, destination);
    type.put(type.view(destination), 0, array, arrayIndex(offset), count * slots);
    destination.position(destination.position() + count * dtype().bytes());
  }

  @Override
  public void write(long offset, int count, ByteBuffer source) {
    checkMove(offset, count, source);
    type.get(type.view(source), 0, array, arrayIndex(offset), count * slots);
    source.position(source.position() + count * dtype().bytes());
  }

  @Override
  public void toArray(long offset, int count, Object target, int index) {
    checkRange(offset, count);
    copy(array, arrayIndex(offset), target, index, count * slots);
  }

  @Override
  public void fromArray(long offset, int count, Object source, int index) {
    checkRange(offset, count);
    copy(source, index, array, arrayIndex(offset), count * slots);
  }

  @Override
  public void copyFrom(long offset, HostTensor source, long sourceOffset, long count) {
    checkCopy(offset, source, sourceOffset, count);
    source.toArray(sourceOffset, (int) count, array, arrayIndex(offset));
  }

  /** Copies slots. Booleans lie in two types of arrays; all others are copied as they are. */
  private static void copy(Object source, int from, Object target, int to, int length) {
    if (source instanceof boolean[] booleans && target instanceof byte[] bytes) {
      TruthValues.toBytes(booleans, from, bytes, to, length);
    } else if (source instanceof byte[] bytes && target instanceof boolean[] booleans) {
      TruthValues.toBooleans(bytes, from, booleans, to, length);
    } else {
      System.arraycopy(source, from, target, to, length);
    }
  }
}

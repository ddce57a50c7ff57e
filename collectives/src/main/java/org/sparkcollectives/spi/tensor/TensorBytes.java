package org.sparkcollectives.spi.tensor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The elements of some tensors as one sequence of bytes, tensor by tensor, in native byte order. It
 * is read or written once, piece by piece. A piece holds whole elements only, so the ends of the
 * pieces follow from the tensors' types and counts. Not thread-safe.
 */
public final class TensorBytes {

  /**
   * The size of the memory through which elements are copied, because tensors move to and from
   * direct buffers.
   */
  private static final int SCRATCH_BYTES = 256 << 10;

  private final List<HostTensor> tensors;
  private final ByteBuffer scratch;
  private int current;
  private long offset;

  /** Begins with the first element of the first tensor. */
  public TensorBytes(List<HostTensor> tensors) {
    this.tensors = tensors;
    this.scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES).order(ByteOrder.nativeOrder());
    skipFinished();
  }

  /** Returns how many bytes the elements of some tensors have. */
  public static long size(List<HostTensor> tensors) {
    return tensors.stream().mapToLong(each -> each.count() * each.dtype().bytes()).sum();
  }

  /** Returns whether all elements were moved. */
  public boolean isAtEnd() {
    return current == tensors.size();
  }

  /**
   * Returns the length of the next piece: as many whole elements as {@code capacity} bytes hold.
   */
  public int nextLength(int capacity) {
    int length = 0;
    long from = offset;
    for (int i = current; i < tensors.size(); i++) {
      HostTensor tensor = tensors.get(i);
      int bytes = tensor.dtype().bytes();
      long left = tensor.count() - from;
      int fits = (capacity - length) / bytes;
      length += (int) Math.min(left, fits) * bytes;
      if (fits < left) {
        break;
      }
      from = 0;
    }
    return length;
  }

  /** Returns the next piece. */
  public byte[] next(int capacity) {
    byte[] piece = new byte[nextLength(capacity)];
    for (int moved = 0; moved < piece.length; ) {
      HostTensor tensor = tensors.get(current);
      int count = elementsAtOnce(tensor, piece.length - moved);
      scratch.clear();
      tensor.read(offset, count, scratch);
      int bytes = scratch.flip().remaining();
      scratch.get(piece, moved, bytes);
      moved += bytes;
      advance(count);
    }
    return piece;
  }

  /** Overwrites the next elements with those of a piece that is as long as the next one. */
  public void fill(byte[] piece) {
    for (int moved = 0; moved < piece.length; ) {
      HostTensor tensor = tensors.get(current);
      int count = elementsAtOnce(tensor, piece.length - moved);
      int bytes = count * tensor.dtype().bytes();
      scratch.clear();
      scratch.put(piece, moved, bytes).flip();
      tensor.write(offset, count, scratch);
      moved += bytes;
      advance(count);
    }
  }

  private int elementsAtOnce(HostTensor tensor, int bytes) {
    int most = Math.min(SCRATCH_BYTES, bytes) / tensor.dtype().bytes();
    return (int) Math.min(tensor.count() - offset, most);
  }

  private void advance(int count) {
    offset += count;
    skipFinished();
  }

  private void skipFinished() {
    while (current < tensors.size() && offset == tensors.get(current).count()) {
      current++;
      offset = 0;
    }
  }
}

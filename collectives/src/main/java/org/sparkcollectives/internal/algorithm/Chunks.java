package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The parts of a tensor that the ranks of a group are responsible for, one each, in rank order. */
final class Chunks {

  /** Boundaries fall on multiples of this many elements, so that kernels meet whole cache lines. */
  private static final long ALIGNMENT = 16;

  private final HostTensor[] chunks;
  private final HostTensor whole;

  private Chunks(HostTensor[] chunks, HostTensor whole) {
    this.chunks = chunks;
    this.whole = whole;
  }

  private Chunks(HostTensor[] chunks) {
    this(chunks, null);
  }

  /** Cuts a tensor in {@code n} parts whose sizes differ by one alignment at the most. */
  static Chunks of(HostTensor tensor, int n) {
    HostTensor[] chunks = new HostTensor[n];
    for (int i = 0; i < n; i++) {
      chunks[i] = part(tensor, i, n);
    }
    return new Chunks(chunks, tensor);
  }

  /** Returns the {@code i}-th of the parts that {@link #of} makes. */
  static HostTensor part(HostTensor tensor, int i, int n) {
    return parts(tensor, i, 1, n);
  }

  /**
   * Returns {@code count} of the parts that {@link #of} makes, from the {@code i}-th on, as one.
   */
  static HostTensor parts(HostTensor tensor, int i, int count, int n) {
    long blocks = (tensor.count() + ALIGNMENT - 1) / ALIGNMENT;
    long from = Math.min(tensor.count(), boundary(blocks, i, n));
    long to = Math.min(tensor.count(), boundary(blocks, i + count, n));
    return tensor.slice(from, to - from);
  }

  private static long boundary(long blocks, int i, int n) {
    return Math.multiplyExact(blocks, i) / n * ALIGNMENT;
  }

  /** Cuts a tensor in {@code n} equal parts. */
  static Chunks equal(HostTensor tensor, int n) {
    HostTensor[] chunks = new HostTensor[n];
    long each = tensor.count() / n;
    for (int i = 0; i < n; i++) {
      chunks[i] = tensor.slice(i * each, each);
    }
    return new Chunks(chunks);
  }

  /** Takes parts that are tensors of their own. */
  static Chunks ofParts(List<HostTensor> parts) {
    return ofParts(parts.toArray(new HostTensor[0]));
  }

  /** Takes parts that are tensors of their own, and from now on belong to the result. */
  static Chunks ofParts(HostTensor... parts) {
    return new Chunks(parts);
  }

  /** Returns the {@code i}-th of {@code n} pieces of each part. */
  Chunks pieces(int i, int n) {
    HostTensor[] pieces = new HostTensor[chunks.length];
    for (int rank = 0; rank < pieces.length; rank++) {
      pieces[rank] = part(chunks[rank], i, n);
    }
    return new Chunks(pieces);
  }

  /** Returns these parts in another order of the ranks. */
  Chunks inOrder(int[] ranks) {
    HostTensor[] ordered = new HostTensor[ranks.length];
    for (int i = 0; i < ranks.length; i++) {
      ordered[i] = chunks[ranks[i]];
    }
    return new Chunks(ordered);
  }

  /** Returns the part of a rank, counted around the ring: {@code -1} is the last. */
  HostTensor at(int rank) {
    return chunks[Math.floorMod(rank, chunks.length)];
  }

  /** Returns neighbouring parts of a tensor that was cut, as one. */
  HostTensor range(int first, int length) {
    return whole.slice(count(0, first), count(first, length));
  }

  /** Returns the number of elements of neighbouring parts. */
  long count(int first, int length) {
    long count = 0;
    for (int i = first; i < first + length; i++) {
      count += chunks[i].count();
    }
    return count;
  }

  /** Returns all parts, in rank order. */
  List<HostTensor> all() {
    return List.of(chunks);
  }

  /** Returns the size of all parts. */
  long bytes() {
    long bytes = 0;
    for (HostTensor chunk : chunks) {
      bytes += chunk.byteSize();
    }
    return bytes;
  }

  /** Returns the size of the parts of all ranks before this one; of few bytes. */
  int bytesBefore(int rank) {
    long bytes = 0;
    for (int i = 0; i < rank; i++) {
      bytes += chunks[i].byteSize();
    }
    return Math.toIntExact(bytes);
  }

  /** Returns whether all parts have the same size. */
  boolean areEqual() {
    for (HostTensor chunk : chunks) {
      if (chunk.count() != chunks[0].count()) {
        return false;
      }
    }
    return true;
  }

  /** Returns the number of elements of the largest part. */
  long largest() {
    long largest = 0;
    for (HostTensor chunk : chunks) {
      largest = Math.max(largest, chunk.count());
    }
    return largest;
  }

  /** Returns copies of these parts that have been multiplied, or these where nothing is. */
  Chunks premultiplied(ReduceKernel kernel) {
    if (!kernel.premultiplies()) {
      return this;
    }
    HostTensor[] copies = new HostTensor[chunks.length];
    for (int i = 0; i < chunks.length; i++) {
      copies[i] = HostTensor.allocate(chunks[i].dtype(), chunks[i].count());
      copies[i].copyFrom(chunks[i]);
      kernel.premultiply(copies[i], 0, copies[i].count());
    }
    return new Chunks(copies);
  }
}

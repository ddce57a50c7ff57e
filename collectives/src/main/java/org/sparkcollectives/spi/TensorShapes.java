package org.sparkcollectives.spi;

import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.Tensor;

/** The shapes of a list of tensors, and the number of their elements. Immutable. */
final class TensorShapes {

  static final TensorShapes NONE = new TensorShapes(new long[0][], 0);

  private final long[][] shapes;
  private final long total;

  private TensorShapes(long[][] shapes, long total) {
    this.shapes = shapes;
    this.total = total;
  }

  static TensorShapes of(Tensor tensor) {
    return new TensorShapes(new long[][] {tensor.shape()}, tensor.count());
  }

  static TensorShapes of(List<? extends Tensor> tensors) {
    long[][] shapes = new long[tensors.size()][];
    long total = 0;
    for (int i = 0; i < shapes.length; i++) {
      shapes[i] = tensors.get(i).shape();
      total += tensors.get(i).count();
    }
    return new TensorShapes(shapes, total);
  }

  /** Returns one shape, of which no tensor has all elements. */
  static TensorShapes ofSparse(long[] shape) {
    return new TensorShapes(new long[][] {shape}, product(shape));
  }

  /** Returns the number of tensors. */
  int size() {
    return shapes.length;
  }

  /** Returns the number of elements of all tensors together. */
  long total() {
    return total;
  }

  /** Returns the number of elements of each tensor. */
  long[] counts() {
    return Arrays.stream(shapes).mapToLong(TensorShapes::product).toArray();
  }

  List<List<Long>> asLists() {
    return Arrays.stream(shapes).map(each -> Arrays.stream(each).boxed().toList()).toList();
  }

  /** Returns these shapes; of more than {@code most} tensors one shape of all their elements. */
  TensorShapes atMost(int most) {
    return shapes.length <= most ? this : new TensorShapes(new long[][] {{total}}, total);
  }

  private static long product(long[] shape) {
    long product = 1;
    for (long extent : shape) {
      product *= extent;
    }
    return product;
  }
}

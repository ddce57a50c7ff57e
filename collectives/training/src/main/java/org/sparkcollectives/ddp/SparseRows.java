package org.sparkcollectives.ddp;

import java.util.Arrays;
import org.sparkcollectives.DType;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;

/** Makes sparse gradients: rows of a parameter, each with its index in the first dimension. */
final class SparseRows {

  private SparseRows() {}

  /** Returns the gradient of a parameter without any rows. */
  static SparseTensor none(Tensor value) {
    long[] shape = value.shape();
    return SparseTensor.of(
        shape, Tensor.allocate(DType.INT64, 1, 0), Tensor.allocate(value.dtype(), rows(shape, 0)));
  }

  /** Returns the sum of two gradients of one parameter. The same index may be in it twice. */
  static SparseTensor sum(SparseTensor first, SparseTensor second) {
    long[] shape = first.shape();
    long count = first.stored() + second.stored();
    return SparseTensor.of(
        shape,
        joined(first.indices(), second.indices()).reshape(1, count),
        joined(first.values(), second.values()).reshape(rows(shape, count)));
  }

  private static long[] rows(long[] shape, long count) {
    long[] rows = Arrays.copyOf(shape, shape.length);
    rows[0] = count;
    return rows;
  }

  private static Tensor joined(Tensor first, Tensor second) {
    Tensor both = Tensor.allocate(first.dtype(), first.count() + second.count());
    both.slice(0, first.count()).copyFrom(first);
    both.slice(first.count(), second.count()).copyFrom(second);
    return both;
  }
}

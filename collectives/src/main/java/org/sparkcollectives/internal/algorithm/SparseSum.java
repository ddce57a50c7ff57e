package org.sparkcollectives.internal.algorithm;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The sum of sparse tensors: all places in ascending order, each once. Values of one place are
 * added up in the order of the ranks, and within a rank in the order in which they are stored.
 */
final class SparseSum {

  private final long[] shape;
  private final int sparseDimensions;
  private final long rowCount;
  private final HostTensor values;
  private final long[][] places;
  private final int stored;

  /**
   * Creates the sum over the stored places of all ranks.
   *
   * @param indices of each rank, {@code int64[sparse dimensions, nnz of the rank]}
   * @param values of all ranks, one after the other
   */
  SparseSum(SparseTensor like, List<HostTensor> indices, HostTensor values) {
    this.shape = like.shape();
    this.sparseDimensions = like.sparseDimensions();
    this.rowCount = Arrays.stream(shape, sparseDimensions, shape.length).reduce(1, (a, b) -> a * b);
    this.values = values;
    this.stored =
        Math.toIntExact(indices.stream().mapToLong(each -> each.count() / sparseDimensions).sum());
    this.places = new long[sparseDimensions][stored];
    int done = 0;
    for (HostTensor each : indices) {
      int count = (int) (each.count() / sparseDimensions);
      for (int dimension = 0; dimension < sparseDimensions; dimension++) {
        each.toArray((long) dimension * count, count, places[dimension], done);
      }
      done += count;
    }
  }

  SparseTensor sum() {
    int[] order = order();
    int distinct = 0;
    int[] target = new int[stored];
    for (int i = 0; i < stored; i++) {
      if (i > 0 && compare(order[i - 1], order[i]) != 0) {
        distinct++;
      }
      target[i] = distinct;
    }
    int count = stored == 0 ? 0 : distinct + 1;
    long[] index = new long[sparseDimensions * count];
    for (int i = 0; i < stored; i++) {
      for (int dimension = 0; dimension < sparseDimensions; dimension++) {
        index[dimension * count + target[i]] = places[dimension][order[i]];
      }
    }
    HostTensor sums = addUp(order, target, count);
    long[] valueShape = new long[1 + shape.length - sparseDimensions];
    valueShape[0] = count;
    System.arraycopy(shape, sparseDimensions, valueShape, 1, valueShape.length - 1);
    return SparseTensor.of(
        shape,
        HostTensor.wrap(DType.INT64, index).reshape(sparseDimensions, count),
        sums.reshape(valueShape));
  }

  private HostTensor addUp(int[] order, int[] target, int count) {
    ReduceKernel kernel = ReduceKernels.of(ReduceOp.SUM, values.dtype());
    HostTensor accumulator = HostTensor.allocate(kernel.accumulatorType(), count * rowCount);
    for (int i = 0; i < stored; i++) {
      long from = order[i] * rowCount;
      long to = target[i] * rowCount;
      if (i == 0 || target[i] != target[i - 1]) {
        kernel.load(accumulator, to, values, from, rowCount);
      } else {
        kernel.accumulate(accumulator, to, values, from, rowCount);
      }
    }
    if (kernel.reducesInPlace()) {
      kernel.finish(accumulator, 0, accumulator, 0, accumulator.count(), 1);
      return accumulator;
    }
    HostTensor sums = HostTensor.allocate(values.dtype(), accumulator.count());
    kernel.finish(sums, 0, accumulator, 0, accumulator.count(), 1);
    return sums;
  }

  /** The stored places in ascending order; equal ones as they are stored. */
  private int[] order() {
    long[] keys = keys();
    if (keys != null) {
      Arrays.sort(keys);
      return Arrays.stream(keys).mapToInt(key -> (int) (key % stored)).toArray();
    }
    return IntStream.range(0, stored)
        .boxed()
        .sorted(((Comparator<Integer>) this::compare).thenComparing(Comparator.naturalOrder()))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /**
   * One number for each stored place, that sorts by place and then by position, which is many times
   * faster to sort than objects; null if a long is too small for that.
   */
  private long[] keys() {
    try {
      long range = Math.max(1, stored);
      for (int dimension = 0; dimension < sparseDimensions; dimension++) {
        range = Math.multiplyExact(range, shape[dimension]);
      }
    } catch (ArithmeticException e) {
      return null;
    }
    long[] keys = new long[stored];
    for (int i = 0; i < stored; i++) {
      long linear = 0;
      for (int dimension = 0; dimension < sparseDimensions; dimension++) {
        linear = linear * shape[dimension] + places[dimension][i];
      }
      keys[i] = linear * stored + i;
    }
    return keys;
  }

  private int compare(int a, int b) {
    for (long[] dimension : places) {
      int difference = Long.compare(dimension[a], dimension[b]);
      if (difference != 0) {
        return difference;
      }
    }
    return 0;
  }
}

package org.sparkcollectives;

import java.util.Arrays;

/**
 * A tensor of which only some elements are stored, each with its indices: the coordinate format
 * (COO) of PyTorch. It wraps its two tensors and never copies them.
 *
 * <p>The leading dimensions of the shape are sparse, the others dense: with {@code s} sparse
 * dimensions and {@code nnz} stored elements, the indices have the shape {@code [s, nnz]} and the
 * values the shape {@code [nnz, dense dimensions...]}. The same indices may be stored more than
 * once; their values then add up.
 */
public final class SparseTensor {

  private final long[] shape;
  private final Tensor indices;
  private final Tensor values;

  private SparseTensor(long[] shape, Tensor indices, Tensor values) {
    this.shape = shape;
    this.indices = indices;
    this.values = values;
  }

  /**
   * Returns the tensor with these indices and values.
   *
   * @param shape of the whole tensor
   * @param indices {@link DType#INT64}, of the shape {@code [sparse dimensions, nnz]}; each row
   *     holds the indices in one dimension
   * @param values of the shape {@code [nnz, dense dimensions...]}
   * @throws IllegalArgumentException if the shapes do not fit together, or an index is outside
   */
  public static SparseTensor of(long[] shape, Tensor indices, Tensor values) {
    SparseTensor tensor = new SparseTensor(shape.clone(), indices, values);
    tensor.check();
    return tensor;
  }

  private void check() {
    long[] indexShape = indices.shape();
    require(
        indices.dtype() == DType.INT64 && indexShape.length == 2,
        "the indices must be int64[sparse dimensions, nnz], not " + indices);
    require(
        indexShape[0] >= 1 && indexShape[0] <= shape.length,
        indexShape[0]
            + " sparse dimensions do not fit to the "
            + shape.length
            + " of "
            + Arrays.toString(shape));
    long[] expected = new long[1 + shape.length - sparseDimensions()];
    expected[0] = indexShape[1];
    System.arraycopy(shape, sparseDimensions(), expected, 1, expected.length - 1);
    require(
        Arrays.equals(values.shape(), expected),
        "the values must have the shape "
            + Arrays.toString(expected)
            + ", not "
            + Arrays.toString(values.shape()));
    long[] places = new long[Math.toIntExact(indices.count())];
    indices.copyTo(places);
    for (int dimension = 0; dimension < sparseDimensions(); dimension++) {
      for (int i = 0; i < stored(); i++) {
        long place = places[Math.toIntExact(dimension * stored()) + i];
        require(
            place >= 0 && place < shape[dimension],
            "place " + place + " is outside of dimension " + dimension);
      }
    }
  }

  private void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalArgumentException(
          "Not a sparse tensor of shape " + Arrays.toString(shape) + ": " + what);
    }
  }

  /** Returns the shape of the whole tensor. A copy. */
  public long[] shape() {
    return shape.clone();
  }

  /** Returns the indices, {@code int64[sparse dimensions, nnz]}. */
  public Tensor indices() {
    return indices;
  }

  /** Returns the values, {@code [nnz, dense dimensions...]}. */
  public Tensor values() {
    return values;
  }

  /** Returns the number of sparse dimensions. */
  public int sparseDimensions() {
    return (int) indices.shape()[0];
  }

  /** Returns the number of stored elements: nnz. */
  public long stored() {
    return indices.shape()[1];
  }

  @Override
  public String toString() {
    return values.dtype().label() + Arrays.toString(shape) + " with " + stored() + " stored";
  }
}

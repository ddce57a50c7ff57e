package org.sparkcollectives.functional;

import java.util.Arrays;
import org.sparkcollectives.Device;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * One dimension of tensors of a shape, along which a tensor is cut into equal parts, or parts are
 * put together.
 *
 * @param shape the extents; never empty
 * @param dimension the dimension
 */
record Axis(long[] shape, int dimension) {

  /**
   * Returns a dimension of a tensor. A scalar has one dimension with a single element.
   *
   * @param dimension counts from the end if it is negative
   */
  static Axis of(FunctionalCall call, Tensor tensor, int dimension) {
    long[] shape = shapeOf(tensor);
    int found = dimension < 0 ? dimension + shape.length : dimension;
    call.require(
        found >= 0 && found < shape.length,
        () ->
            "there is no dimension "
                + dimension
                + " in the shape "
                + Arrays.toString(shape)
                + "; give one from "
                + -shape.length
                + " to "
                + (shape.length - 1));
    return new Axis(shape, found);
  }

  static long[] shapeOf(Tensor tensor) {
    long[] shape = tensor.shape();
    return shape.length == 0 ? new long[] {1} : shape;
  }

  /** Refuses a dimension that cannot be cut into so many equal parts. */
  void divisible(FunctionalCall call, int parts) {
    call.require(
        extent() % parts == 0,
        () ->
            "dimension "
                + dimension
                + " of the shape "
                + Arrays.toString(shape)
                + " has the extent "
                + extent()
                + ", which must be a multiple of the group's "
                + parts
                + " ranks");
  }

  long extent() {
    return shape[dimension];
  }

  /** Returns the same dimension of tensors that have another extent in it. */
  Axis withExtent(long extent) {
    long[] other = shape.clone();
    other[dimension] = extent;
    return new Axis(other, dimension);
  }

  /** Returns how many elements one index of this dimension has, for each index of those before. */
  private long inner() {
    return product(dimension + 1, shape.length);
  }

  private long outer() {
    return product(0, dimension);
  }

  private long product(int from, int to) {
    long product = 1;
    for (int i = from; i < to; i++) {
      product *= shape[i];
    }
    return product;
  }

  /** Returns a copy of a tensor of this shape in which its {@code parts} parts lie in turn. */
  Tensor cut(ProcessGroup group, Tensor whole, int parts) {
    Tensor copy = allocate(group, whole, whole.count());
    move(copy, whole.reshape(whole.count()), parts, true);
    return copy;
  }

  /**
   * Returns a tensor of this shape, put together from parts that lie in turn; it may be the same
   * memory.
   */
  Tensor join(ProcessGroup group, Tensor inTurn, int parts) {
    if (outer() == 1) {
      return inTurn.reshape(shape);
    }
    Tensor whole = allocate(group, inTurn, inTurn.count());
    move(whole, inTurn, parts, false);
    return whole.reshape(shape);
  }

  private void move(Tensor to, Tensor from, int parts, boolean cuts) {
    if (from.count() == 0) {
      return;
    }
    long run = extent() / parts * inner();
    long outer = outer();
    for (long row = 0; row < outer; row++) {
      for (long part = 0; part < parts; part++) {
        long whole = (row * parts + part) * run;
        long inTurn = (part * outer + row) * run;
        to.slice(cuts ? inTurn : whole, run).copyFrom(from.slice(cuts ? whole : inTurn, run));
      }
    }
  }

  /** Returns a new tensor of one dimension on the device of another. */
  static Tensor allocate(ProcessGroup group, Tensor like, long count) {
    return like.device().type() == Device.Type.CPU
        ? Tensor.allocate(like.dtype(), count)
        : group.allocate(like.dtype(), count, like.device().type());
  }

  /** Returns a copy of a tensor, with its shape. */
  static Tensor copy(ProcessGroup group, Tensor tensor) {
    Tensor copy = allocate(group, tensor, tensor.count());
    copy.copyFrom(tensor);
    return copy.reshape(tensor.shape());
  }
}

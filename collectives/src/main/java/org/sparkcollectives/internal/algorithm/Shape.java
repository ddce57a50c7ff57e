package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;

/**
 * The properties of a call that all ranks know alike.
 *
 * @param bytes the size of the tensor that a rank gives, or of all parts together
 * @param elementBytes the size of an element
 * @param accumulatorBytes the size of what its sum is kept in
 * @param resultBytes the size of an element of the result
 * @param equalParts whether all parts are of one size
 * @param known whether all ranks know the sizes of all parts; else each knows its own only
 */
record Shape(
    long bytes,
    int elementBytes,
    int accumulatorBytes,
    int resultBytes,
    boolean equalParts,
    boolean known) {

  /** Returns the shape of a reduction of a tensor, or of parts of any size. */
  static Shape ofReduction(long bytes, ReduceKernel kernel) {
    return new Shape(
        bytes,
        kernel.inputType().bytes(),
        kernel.accumulatorType().bytes(),
        kernel.resultType().bytes(),
        false,
        true);
  }

  /** Returns the shape of a call that reduces nothing. */
  static Shape ofParts(long bytes, boolean equalParts) {
    return new Shape(bytes, 1, 1, 1, equalParts, true);
  }

  /** Returns the shape of a call of which this rank knows its own sizes only. */
  static Shape ofUnknown(long ownBytes) {
    return new Shape(ownBytes, 1, 1, 1, false, false);
  }

  /** Returns whether elements are added up in a wider type than they have. */
  boolean widens() {
    return elementBytes != accumulatorBytes;
  }

  /** Returns the same call on so many bytes. */
  Shape withBytes(long other) {
    return new Shape(other, elementBytes, accumulatorBytes, resultBytes, equalParts, known);
  }

  /** Returns the size of the accumulators of all elements. */
  long accumulated() {
    return bytes * accumulatorBytes / elementBytes;
  }

  /** Returns the size of the result of all elements. */
  long results() {
    return bytes * resultBytes / elementBytes;
  }

  /** Returns the rest of the same call, which begins with the accumulators of so many bytes. */
  Shape ofAccumulators(long other) {
    return new Shape(
        withBytes(other).accumulated(),
        accumulatorBytes,
        accumulatorBytes,
        resultBytes,
        equalParts,
        known);
  }
}

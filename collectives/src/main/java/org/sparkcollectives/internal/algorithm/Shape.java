package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;

/**
 * The properties of a call that all ranks know alike.
 *
 * @param bytes the size of the tensor, or of all parts together
 * @param elementBytes the size of an element
 * @param accumulatorBytes the size of what its sum is kept in
 * @param equalParts whether all parts are of one size
 * @param known whether all ranks know the sizes of all parts; else each knows its own only
 */
record Shape(
    long bytes, int elementBytes, int accumulatorBytes, boolean equalParts, boolean known) {

  /** Returns the shape of a reduction of a tensor, or of parts of any size. */
  static Shape ofReduction(long bytes, ReduceKernel kernel) {
    int elementBytes = kernel.inputType().bytes();
    return new Shape(bytes, elementBytes, kernel.accumulatorType().bytes(), false, true);
  }

  /** Returns the shape of a call that reduces nothing. */
  static Shape ofParts(long bytes, boolean equalParts) {
    return new Shape(bytes, 1, 1, equalParts, true);
  }

  /** Returns the shape of a call of which this rank knows its own sizes only. */
  static Shape ofUnknown(long ownBytes) {
    return new Shape(ownBytes, 1, 1, false, false);
  }

  /** Returns whether elements are added up in a wider type than they have. */
  boolean widens() {
    return elementBytes != accumulatorBytes;
  }

  /** Returns the same call on so many bytes. */
  Shape withBytes(long other) {
    return new Shape(other, elementBytes, accumulatorBytes, equalParts, known);
  }

  /** Returns the same call on the accumulators of so many bytes. */
  Shape ofAccumulators(long other) {
    long accumulated = other / elementBytes * accumulatorBytes;
    return new Shape(accumulated, accumulatorBytes, accumulatorBytes, equalParts, known);
  }
}

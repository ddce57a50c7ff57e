package org.sparkcollectives.conformance;

/** The memory of the tensors of a case. */
enum Memory {
  /** A heap array of its own. */
  HEAP,
  /** Some elements into a larger heap array; booleans in a {@code byte[]}. */
  HEAP_SLICE,
  /** A range of a direct buffer. */
  DIRECT,
  /** Some elements into a range of a direct buffer that begins at an odd address. */
  DIRECT_SLICE,
  /** The other kinds in turn, each rank beginning with another. */
  MIXED;

  private static final Memory[] PLACES = {HEAP, HEAP_SLICE, DIRECT, DIRECT_SLICE};

  /** Returns the memory of the {@code index}-th tensor of a rank. */
  Memory place(int rank, int index) {
    return this == MIXED ? PLACES[(rank + index) % PLACES.length] : this;
  }

  boolean isDirect() {
    return this == DIRECT || this == DIRECT_SLICE;
  }

  boolean isSlice() {
    return this == HEAP_SLICE || this == DIRECT_SLICE;
  }
}

package org.sparkcollectives.engine;

import java.util.Locale;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;

/**
 * What a user called, in the words of errors and records.
 *
 * @param type the operation
 * @param dtype the type of the elements, or null of a barrier
 * @param inputCount the number of elements given
 * @param outputCount the number of elements expected
 * @param detail the reduction, root, peer and tag, as far as the operation has them
 */
record OperationDescription(
    OpType type, DType dtype, long inputCount, long outputCount, String detail) {

  /** The operation with its number, such as {@code all-reduce #7 (float32 x 1,024, SUM)}. */
  String numbered(long sequenceNumber) {
    StringBuilder text = new StringBuilder(type.label()).append(" #").append(sequenceNumber);
    String separator = " (";
    if (dtype != null) {
      long count = Math.max(inputCount, outputCount);
      text.append(separator)
          .append(dtype.label())
          .append(" x ")
          .append(String.format(Locale.ROOT, "%,d", count));
      separator = ", ";
    }
    if (!detail.isEmpty()) {
      text.append(separator).append(detail);
      separator = ", ";
    }
    return separator.equals(", ") ? text.append(')').toString() : text.toString();
  }
}

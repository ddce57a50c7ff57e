package org.sparkcollectives.zero;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/**
 * Describes a part of a parameter's state, whose elements travel apart from it.
 *
 * @param parameter the position of the parameter
 * @param name the name of the part, such as the momentum
 * @param dtype the type of its elements
 * @param shape the extent of each dimension
 */
record StatePart(int parameter, String name, DType dtype, List<Long> shape) {

  private static final String FIELD = "\u0000";
  private static final String END = "\u0001";
  private static final Pattern FIELDS = Pattern.compile(FIELD, Pattern.LITERAL);
  private static final Pattern ENDS = Pattern.compile(END, Pattern.LITERAL);

  static StatePart of(int parameter, String name, Tensor tensor) {
    if (name.contains(FIELD) || name.contains(END)) {
      throw new IllegalArgumentException(
          "the name of a part of the state of parameter "
              + parameter
              + " has control characters: "
              + name);
    }
    return new StatePart(
        parameter, name, tensor.dtype(), Arrays.stream(tensor.shape()).boxed().toList());
  }

  long count() {
    return shape.stream().reduce(1L, (product, extent) -> product * extent);
  }

  long[] extents() {
    return shape.stream().mapToLong(each -> each).toArray();
  }

  /** Returns a text for parts, which {@link #decode} reads. */
  static String encode(List<StatePart> parts) {
    StringBuilder text = new StringBuilder();
    for (StatePart each : parts) {
      text.append(each.parameter).append(FIELD).append(each.name).append(FIELD);
      text.append(each.dtype.name());
      each.shape.forEach(extent -> text.append(FIELD).append(extent));
      text.append(END);
    }
    return text.toString();
  }

  static List<StatePart> decode(String text) {
    List<StatePart> parts = new ArrayList<>();
    for (String each : ENDS.split(text, -1)) {
      if (!each.isEmpty()) {
        String[] fields = FIELDS.split(each, -1);
        parts.add(
            new StatePart(
                Integer.parseInt(fields[0]),
                fields[1],
                DType.valueOf(fields[2]),
                Arrays.stream(fields, 3, fields.length).map(Long::valueOf).toList()));
      }
    }
    return parts;
  }

  /** Returns how many elements of each type some parts have, by the type's position. */
  static long[] counts(List<StatePart> parts) {
    long[] counts = new long[DType.values().length];
    parts.forEach(each -> counts[each.dtype.ordinal()] += each.count());
    return counts;
  }
}

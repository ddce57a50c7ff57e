package org.sparkcollectives.examples.digits;

import java.util.regex.Pattern;

/**
 * LIBSVM's format: {@code label index:value index:value ... # comment}, with ascending indices from
 * 1. A missing value is zero.
 */
final class LibsvmFormat implements LineFormat {

  private static final long serialVersionUID = 1;

  /** A row is stored with its zeros, which does not suit more features than this. */
  private static final int MOST_FEATURES = 1 << 20;

  private static final Pattern LINE = Pattern.compile("[^\\s,;:]+(\\s+\\d+:[^\\s,;:]+)+");

  /** Returns whether a line has this format, and can have no other. */
  static boolean fits(String line) {
    return LINE.matcher(withoutComment(line)).matches();
  }

  private static String withoutComment(String line) {
    int comment = line.indexOf('#');
    return (comment < 0 ? line : line.substring(0, comment)).strip();
  }

  @Override
  public boolean isSample(String line) {
    return !withoutComment(line).isEmpty();
  }

  @Override
  public LabeledValues parse(String line) {
    String[] fields = withoutComment(line).split("\\s+", -1);
    int[] indices = new int[fields.length];
    for (int i = 1; i < fields.length; i++) {
      int colon = fields[i].indexOf(':');
      indices[i] = colon < 0 ? 0 : index(fields[i].substring(0, colon));
      if (indices[i] <= indices[i - 1]) {
        throw new IllegalArgumentException(
            "index:value is expected, with ascending indices from 1 to "
                + MOST_FEATURES
                + ", not '"
                + fields[i]
                + "', in: "
                + LineFormat.shortened(line));
      }
    }
    double[] values = new double[indices[fields.length - 1]];
    for (int i = 1; i < fields.length; i++) {
      String value = fields[i].substring(fields[i].indexOf(':') + 1);
      values[indices[i] - 1] = LineFormat.number(value, line);
    }
    return new LabeledValues(fields[0], values);
  }

  /** Returns the index, or 0 if {@code text} is none. */
  private static int index(String text) {
    return text.matches("\\d{1,7}") && Integer.parseInt(text) <= MOST_FEATURES
        ? Integer.parseInt(text)
        : 0;
  }
}

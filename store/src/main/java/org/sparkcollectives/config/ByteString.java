package org.sparkcollectives.config;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads and writes sizes as Spark writes them: a whole number and a unit of 1024s, such as {@code
 * 64m}.
 */
public final class ByteString {

  private static final Pattern FORM = Pattern.compile("([0-9]{1,19})\\s*(?:b|([kmgtp])b?)?");
  private static final String UNITS = "kmgtp";

  private ByteString() {}

  /**
   * Reads a whole number followed by b, k, m, g, t or p, or by kb, mb and so on; a number alone is
   * in bytes.
   *
   * @throws IllegalArgumentException for any other form
   */
  public static long parse(String text) {
    Matcher matcher = FORM.matcher(text.trim().toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "not a size: '" + text + "'; write a whole number and b, k, m, g, t or p");
    }
    int power = matcher.group(2) == null ? 0 : UNITS.indexOf(matcher.group(2)) + 1;
    long unit = 1L << (10 * power);
    try {
      return Math.multiplyExact(Long.parseLong(matcher.group(1)), unit);
    } catch (NumberFormatException | ArithmeticException e) {
      throw new IllegalArgumentException("the size " + text + " is too large", e);
    }
  }

  /** Returns the shortest exact form that {@link #parse} reads; bytes have the unit b. */
  public static String format(long bytes) {
    long number = bytes;
    int power = 0;
    while (number != 0 && number % 1024 == 0 && power < UNITS.length()) {
      number /= 1024;
      power++;
    }
    return number + (power == 0 ? "b" : UNITS.substring(power - 1, power));
  }
}

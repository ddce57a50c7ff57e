package org.sparkcollectives.config;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads and writes durations as Spark writes them: a whole number and a unit, such as {@code
 * 30min}.
 */
public final class TimeString {

  private static final Pattern FORM = Pattern.compile("([0-9]{1,18})\\s*([a-z]+)");

  private TimeString() {}

  /**
   * Reads a whole number followed by us, ms, s, m or min, h, or d; 0 needs no unit.
   *
   * @throws IllegalArgumentException for any other form, another number without a unit included
   */
  public static Duration parse(String text) {
    if (text.trim().equals("0")) {
      return Duration.ZERO;
    }
    Matcher matcher = FORM.matcher(text.trim().toLowerCase(Locale.ROOT));
    if (matcher.matches()) {
      Duration unit = unit(matcher.group(2));
      if (unit != null) {
        try {
          return unit.multipliedBy(Long.parseLong(matcher.group(1)));
        } catch (ArithmeticException e) {
          throw new IllegalArgumentException("the duration " + text + " is too long", e);
        }
      }
    }
    throw new IllegalArgumentException(
        "not a duration: '" + text + "'; write a whole number and us, ms, s, min, h or d");
  }

  private static Duration unit(String name) {
    return switch (name) {
      case "us" -> Duration.ofNanos(1_000);
      case "ms" -> Duration.ofMillis(1);
      case "s" -> Duration.ofSeconds(1);
      case "m", "min" -> Duration.ofMinutes(1);
      case "h" -> Duration.ofHours(1);
      case "d" -> Duration.ofDays(1);
      default -> null;
    };
  }

  /**
   * Returns the shortest form that {@link #parse} reads, exact to the microsecond. Messages use it
   * too.
   */
  public static String format(Duration duration) {
    if (duration.isZero()) {
      return "0s";
    }
    if (duration.getNano() % 1_000_000 != 0) {
      return duration.getSeconds() * 1_000_000 + duration.getNano() / 1_000 + "us";
    }
    if (duration.getNano() != 0) {
      return duration.getSeconds() * 1_000 + duration.getNano() / 1_000_000 + "ms";
    }
    long seconds = duration.getSeconds();
    if (seconds % 86_400 == 0) {
      return seconds / 86_400 + "d";
    }
    if (seconds % 3_600 == 0) {
      return seconds / 3_600 + "h";
    }
    return seconds % 60 == 0 ? seconds / 60 + "min" : seconds + "s";
  }
}

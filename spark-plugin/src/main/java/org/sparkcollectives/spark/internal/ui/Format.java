package org.sparkcollectives.spark.internal.ui;

import java.util.Locale;
import org.apache.spark.ui.UIUtils$;

/** Formats numbers for people. */
final class Format {

  private static final String[] BYTES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  private static final double NANOS = 1e-6;
  private static final double MICROS = 1e-3;
  private static final int MINUTE = 60;
  private static final int HOUR = 3600;

  private Format() {}

  /** Returns a number with separators, such as {@code 12,345}. */
  static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  /** Returns a size such as {@code 1.5 MiB}. */
  static String bytes(long bytes) {
    int unit = 0;
    double value = bytes;
    while (value >= 1024 && unit < BYTES.length - 1) {
      value /= 1024;
      unit++;
    }
    return figure(value) + " " + BYTES[unit];
  }

  /** Returns a rate such as {@code 1.25 GB/s}, in powers of ten as networks have it. */
  static String rate(double bytesPerSecond) {
    if (bytesPerSecond >= 1e9) {
      return figure(bytesPerSecond / 1e9) + " GB/s";
    }
    return bytesPerSecond >= 1e6
        ? figure(bytesPerSecond / 1e6) + " MB/s"
        : figure(bytesPerSecond / 1e3) + " kB/s";
  }

  /** Returns a time such as {@code 12.5 ms}. */
  static String seconds(double seconds) {
    if (seconds <= 0) {
      return "0 s";
    }
    if (seconds < NANOS) {
      return figure(seconds * 1e9) + " ns";
    }
    if (seconds < MICROS) {
      return figure(seconds * 1e6) + " µs";
    }
    if (seconds < 1) {
      return figure(seconds * 1e3) + " ms";
    }
    if (seconds < MINUTE) {
      return figure(seconds) + " s";
    }
    long whole = Math.round(seconds);
    return whole < HOUR
        ? whole / MINUTE + " min " + whole % MINUTE + " s"
        : whole / HOUR + " h " + whole % HOUR / MINUTE + " min";
  }

  static String millis(long millis) {
    return seconds(millis / 1e3);
  }

  /** Returns a share such as {@code 12 %}; a small one is not rounded to 0. */
  static String share(double share) {
    double percent = share * 100;
    return (percent > 0 && percent < 10 ? figure(percent) : Long.toString(Math.round(percent)))
        + " %";
  }

  /** Returns a moment in the time zone of the server, as Spark's own pages have it. */
  static String time(long millis) {
    return UIUtils$.MODULE$.formatDate(millis);
  }

  /** Returns three digits at the least, and no decimals that are 0. */
  static String figure(double value) {
    if (value >= 100 || value == Math.rint(value)) {
      return String.format(Locale.ROOT, "%,d", Math.round(value));
    }
    String text = String.format(Locale.ROOT, value >= 10 ? "%.1f" : "%.2f", value);
    return text.contains(".") ? text.replaceAll("\\.?0+$", "") : text;
  }
}

package org.sparkcollectives.spark.event;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Bounds the size of events; none fails because of null, which a line of another version may bring.
 */
final class Bounds {

  private static final String CUT = "… (cut)";

  private Bounds() {}

  /** Returns {@code text} with at most {@code most} characters; empty for null. */
  static String text(String text, int most) {
    if (text == null) {
      return "";
    }
    return text.length() <= most ? text : text.substring(0, most - CUT.length()) + CUT;
  }

  /** Returns the first elements of {@code list}, without null; empty for null. */
  static <T> List<T> list(List<T> list, int most) {
    return list == null ? List.of() : list.stream().filter(Objects::nonNull).limit(most).toList();
  }

  /** Returns {@code map} by name, without null; empty for null. */
  static <V> Map<String, V> map(Map<String, V> map) {
    Map<String, V> sorted = new TreeMap<>();
    if (map != null) {
      map.forEach(
          (name, value) -> {
            if (name != null && value != null) {
              sorted.put(name, value);
            }
          });
    }
    return Collections.unmodifiableMap(sorted);
  }
}

package org.sparkcollectives.faults;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The times from faults until the last of the other ranks threw. */
final class DetectionTimes {

  private final Map<Fault, Map<Phase, List<Double>>> millis = new EnumMap<>(Fault.class);

  /** Adds the time of one case. */
  void add(FaultCase fault, double time) {
    millis
        .computeIfAbsent(fault.fault(), each -> new EnumMap<>(Phase.class))
        .computeIfAbsent(fault.phase(), each -> new ArrayList<>())
        .add(time);
  }

  /**
   * Returns the median and maximum in milliseconds, and the number of cases, as a table in
   * Markdown.
   */
  String table() {
    StringBuilder text = new StringBuilder("| fault |");
    StringBuilder line = new StringBuilder("|---|");
    for (Phase phase : Phase.values()) {
      text.append(' ').append(phase.label()).append(" |");
      line.append("---:|");
    }
    text.append('\n').append(line).append('\n');
    millis.forEach(
        (fault, phases) -> {
          text.append("| ").append(fault.label()).append(" |");
          for (Phase phase : Phase.values()) {
            text.append(' ').append(cell(phases.getOrDefault(phase, List.of()))).append(" |");
          }
          text.append('\n');
        });
    return text.toString();
  }

  private static String cell(List<Double> times) {
    if (times.isEmpty()) {
      return "";
    }
    List<Double> sorted = new ArrayList<>(times);
    Collections.sort(sorted);
    double median = sorted.get(sorted.size() / 2);
    return String.format(
        Locale.ROOT, "%.1f / %.1f (%d)", median, sorted.get(sorted.size() - 1), sorted.size());
  }
}

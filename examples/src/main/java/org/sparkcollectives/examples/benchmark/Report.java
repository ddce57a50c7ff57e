package org.sparkcollectives.examples.benchmark;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** All results of a run, and the circumstances under which they were measured. Not thread-safe. */
final class Report {

  private final Map<String, Object> circumstances = new LinkedHashMap<>();
  private final List<Measurement> results = new ArrayList<>();

  private Report() {}

  /** Records the current circumstances. */
  static Report begin(Ranks ranks, Plan plan, GroupSettings settings) {
    Report report = new Report();
    Map<String, Object> all = report.circumstances;
    all.put("operation", plan.operation().label());
    all.put("ranks", ranks.size());
    all.put("place", ranks.description());
    all.put("transports", settings.transports());
    all.put("memory", plan.memory().name().toLowerCase(Locale.ROOT));
    all.put("pauseMicros", plan.pause().toNanos() / 1e3);
    all.put("skewMicros", plan.skew().toNanos() / 1e3);
    all.put("persistent", plan.persistent());
    all.put("settings", settings.settings());
    all.put("processors", Runtime.getRuntime().availableProcessors());
    all.put("java", System.getProperty("java.vm.name") + " " + Runtime.version());
    all.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    all.put("loadBefore", load());
    return report;
  }

  /** Returns how many threads wanted a processor over the last minute; negative if unknown. */
  static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  void add(Measurement measurement) {
    results.add(measurement);
  }

  /** Records what has changed since the beginning. */
  void end() {
    circumstances.put("loadAfter", load());
  }

  Object circumstance(String name) {
    return circumstances.get(name);
  }

  List<Measurement> results() {
    return Collections.unmodifiableList(results);
  }

  /** Returns the sum over all results that were checked. */
  long wrongElements() {
    return results.stream()
        .map(Measurement::wrongElements)
        .filter(Objects::nonNull)
        .mapToLong(Long::longValue)
        .sum();
  }

  /** Writes everything as JSON. */
  void write(Path file) throws IOException {
    Map<String, Object> all = new LinkedHashMap<>(circumstances);
    all.put("results", results);
    new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), all);
  }
}

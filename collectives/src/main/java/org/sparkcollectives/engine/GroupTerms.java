package org.sparkcollectives.engine;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.CollectivesConfiguration;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.config.Configuration;

/**
 * What all ranks of a group must have alike before they meet: its size, and all that decides how
 * each of them carries out an operation. Two ranks that chose different algorithms would wait for
 * each other in vain, or take each other's messages for something else.
 *
 * @param terms in an order that is the same on all ranks
 */
record GroupTerms(List<Term> terms) {

  /** By which each rank chooses algorithms for itself. */
  private static final List<ConfigEntry<?>> COSTS =
      List.of(
          CollectivesConfiguration.COST_LATENCY,
          CollectivesConfiguration.COST_OVERHEAD,
          CollectivesConfiguration.COST_BANDWIDTH,
          CollectivesConfiguration.COST_HEAP_LATENCY,
          CollectivesConfiguration.COST_HEAP_BANDWIDTH,
          CollectivesConfiguration.COST_SHM_LATENCY,
          CollectivesConfiguration.COST_SHM_OVERHEAD,
          CollectivesConfiguration.COST_SHM_BANDWIDTH,
          CollectivesConfiguration.COST_MESH);

  /**
   * One of them.
   *
   * @param name as messages have it
   * @param value this rank's
   */
  record Term(String name, String value) {}

  /**
   * Those of a rank.
   *
   * @param options which leave nothing open
   */
  static GroupTerms of(int size, GroupOptions options, Configuration configuration) {
    List<Term> terms = new ArrayList<>();
    terms.add(new Term("a world size", Integer.toString(size)));
    terms.add(
        new Term("the transports", options.transports().stream().sorted().toList().toString()));
    terms.add(
        new Term(
            "a comparison of calls (debug level DETAIL)",
            options.debugLevel() == DebugLevel.DETAIL ? "all" : "none"));
    for (ConfigEntry<?> each : COSTS) {
      terms.add(new Term("a " + each.key(), configuration.get(each).toString()));
    }
    return new GroupTerms(List.copyOf(terms));
  }

  /** The values, as ranks compare them in the store. */
  byte[] encode() {
    return String.join("\n", terms.stream().map(Term::value).toList())
        .getBytes(StandardCharsets.UTF_8);
  }

  /** What this rank has, and what another has instead that has {@code encoded}. */
  String difference(byte[] encoded) {
    String[] others = new String(encoded, StandardCharsets.UTF_8).split("\n", -1);
    for (int i = 0; i < terms.size(); i++) {
      String other = i < others.length ? others[i] : "none";
      if (!terms.get(i).value().equals(other)) {
        return "with "
            + terms.get(i).name()
            + " of "
            + terms.get(i).value()
            + ", but another rank did with "
            + other;
      }
    }
    return "but another rank did with what this version of the library does not know";
  }
}

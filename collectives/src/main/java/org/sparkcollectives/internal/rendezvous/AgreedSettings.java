package org.sparkcollectives.internal.rendezvous;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RankContext;

/**
 * The settings that must be the same on all ranks of a group: its size, and everything that decides
 * how a rank carries out an operation. Two ranks with different algorithms would wait for each
 * other in vain, misread each other's messages, or take each other for unresponsive.
 *
 * @param terms in an order that is the same on all ranks
 */
public record AgreedSettings(List<Term> terms) {

  /** The settings by which a rank cuts operations, and expects heartbeats. */
  private static final List<ConfigEntry<?>> ALIKE =
      List.of(CollectivesConfiguration.CONNECTIONS, CollectivesConfiguration.HEARTBEAT_TIMEOUT);

  /**
   * One setting.
   *
   * @param phrase what comes before the value in a message
   * @param value this rank's
   */
  record Term(String phrase, String value) {}

  /**
   * Returns the settings of a rank.
   *
   * @param options which leave nothing open
   * @param context what hosts it
   * @param costs by which it chooses algorithms
   */
  public static AgreedSettings of(
      int size, GroupOptions options, RankContext context, String costs) {
    Configuration configuration = context.configuration();
    List<Term> terms = new ArrayList<>();
    terms.add(new Term("with a world size of", Integer.toString(size)));
    terms.addAll(ofOptions(options));
    terms.add(new Term("with " + CollectivesConfiguration.COST.key() + " of", costs));
    terms.add(new Term("with stripes of", context.tuning().stripeBytes() + " bytes"));
    for (ConfigEntry<?> each : ALIKE) {
      terms.add(new Term("with " + each.key() + " of", configuration.get(each).toString()));
    }
    return new AgreedSettings(List.copyOf(terms));
  }

  /**
   * Returns the settings of a group that is made from another, whose configuration all ranks have
   * in common.
   *
   * @param members the ranks; of several groups that are made at once, those of each
   * @param options which leave nothing open
   */
  public static AgreedSettings ofMembers(List<?> members, GroupOptions options) {
    List<Term> terms = new ArrayList<>();
    terms.add(new Term("of ranks", members.toString()));
    terms.addAll(ofOptions(options));
    return new AgreedSettings(List.copyOf(terms));
  }

  private static List<Term> ofOptions(GroupOptions options) {
    return List.of(
        new Term("over the transports", options.transports().stream().sorted().toList().toString()),
        new Term(
            "with " + CollectivesConfiguration.ALGORITHM.key() + " of",
            options.algorithms().stream().sorted().toList().toString()),
        new Term(
            "with debug level DETAIL at",
            options.debugLevel().orElseThrow() == DebugLevel.DETAIL ? "all ranks" : "no rank"));
  }

  /** Returns the values as ranks compare them in the store. */
  public byte[] encode() {
    return String.join("\n", terms.stream().map(Term::value).toList())
        .getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns what this rank has, and what another has instead.
   *
   * @param encoded the other's terms
   * @param did what the other did with them, as messages have it
   */
  public String difference(byte[] encoded, String did) {
    String[] others = new String(encoded, StandardCharsets.UTF_8).split("\n", -1);
    for (int i = 0; i < terms.size(); i++) {
      Term term = terms.get(i);
      String other = i < others.length ? others[i] : "none";
      if (!term.value().equals(other)) {
        return "%s %s, but another rank %s %s %s"
            .formatted(term.phrase(), term.value(), did, term.phrase(), other);
      }
    }
    return "but another rank %s with another version of this library".formatted(did);
  }
}

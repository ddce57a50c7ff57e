package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.sparkcollectives.OpType;
import org.sparkcollectives.config.NearestName;

/**
 * The algorithms that a group's user has named, which then run whatever they cost. Collectives for
 * which none is named run the one that is predicted to be the fastest. Immutable.
 */
public final class NamedAlgorithms {

  /** The name that stands for no algorithm: each is chosen by its cost. */
  public static final String AUTO = "auto";

  /** No names. */
  public static final NamedAlgorithms NONE = new NamedAlgorithms(Map.of());

  /** The collectives that each algorithm carries out, by its name. */
  private static final Map<String, List<OpType>> KNOWN = known();

  private final Map<OpType, String> names;

  private NamedAlgorithms(Map<OpType, String> names) {
    this.names = names;
  }

  /**
   * Reads names: at most one for each collective, or {@value #AUTO} alone.
   *
   * @throws IllegalArgumentException if there is no algorithm of a name, or two are for one
   *     collective
   */
  public static NamedAlgorithms of(List<String> names) {
    if (names.equals(List.of(AUTO))) {
      return NONE;
    }
    Map<OpType, String> chosen = new EnumMap<>(OpType.class);
    for (String name : names) {
      if (!KNOWN.containsKey(name)) {
        throw new IllegalArgumentException(
            "spark.collectives.algorithm names \""
                + name
                + "\", but there is no such algorithm; docs/internals/algorithms.md lists them"
                + NearestName.question(name, KNOWN.keySet()));
      }
      for (OpType type : KNOWN.get(name)) {
        String other = chosen.putIfAbsent(type, name);
        if (other != null) {
          throw new IllegalArgumentException(
              "spark.collectives.algorithm names two algorithms for "
                  + type.label()
                  + ": "
                  + other
                  + " and "
                  + name
                  + ". Name one for each operation");
        }
      }
    }
    return new NamedAlgorithms(chosen);
  }

  private static Map<String, List<OpType>> known() {
    Map<String, List<OpType>> known = new LinkedHashMap<>();
    AlgorithmTable table = new AlgorithmTable(null); // Nothing runs in it.
    for (AlgorithmRows<?> rows : table.all()) {
      for (AlgorithmRows.Row<?> row : rows.all()) {
        known.computeIfAbsent(row.name(), name -> new ArrayList<>()).add(rows.type());
      }
    }
    return known;
  }

  /** Returns the one of these rows that is named for their collective, if one is. */
  <C> Optional<AlgorithmRows.Row<C>> row(AlgorithmRows<C> rows) {
    String name = names.get(rows.type());
    return name == null
        ? Optional.empty()
        : rows.all().stream().filter(row -> row.name().equals(name)).findFirst();
  }
}

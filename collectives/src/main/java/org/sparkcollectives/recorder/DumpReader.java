package org.sparkcollectives.recorder;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.OpType;
import org.sparkcollectives.RankLocation;

/** Makes dumps of the maps and lists of {@link DumpSchema}. */
final class DumpReader {

  private DumpReader() {}

  /**
   * Returns the dump that {@link DumpSchema#of} made a map of.
   *
   * @throws IllegalArgumentException if it is none, or one of another version
   */
  static FlightDump read(Object root) {
    try {
      Map<String, Object> map = asMap(root);
      if (!DumpSchema.VERSION.equals(map.get("version"))) {
        throw new IllegalArgumentException(
            "a dump of version " + map.get("version") + ", not " + DumpSchema.VERSION);
      }
      List<GroupStatus> groups = new ArrayList<>();
      asMap(map.get("pg_config"))
          .forEach((name, config) -> groups.add(group(asMap(config), asMap(map.get("pg_status")))));
      return new RankDump(
          new RankLocation(
              (int) number(map, "rank"),
              text(map, "host"),
              text(map, "executor"),
              number(map, "task_attempt_id")),
          text(map, "reason"),
          number(map, "time_taken_ns"),
          groups,
          ((List<?>) map.get("entries")).stream().map(each -> record(asMap(each))).toList());
    } catch (ClassCastException | NullPointerException | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException("not a dump of a flight recorder: " + e.getMessage(), e);
    }
  }

  private static GroupStatus group(Map<String, Object> config, Map<String, Object> statuses) {
    String name = text(config, "name");
    String ranks = text(config, "ranks");
    Map<String, Object> status = asMap(statuses.get(name));
    return new GroupStatus(
        name,
        text(config, "desc"),
        Stream.of(ranks.substring(1, ranks.length() - 1).split(", *"))
            .map(Integer::valueOf)
            .collect(Collectors.toList()),
        number(status, "last_enqueued_collective"),
        number(status, "last_started_collective"),
        number(status, "last_completed_collective"));
  }

  private static FlightRecord record(Map<String, Object> entry) {
    List<?> dtypes = (List<?>) entry.get("input_dtypes");
    return new FlightRecord(
        number(entry, "record_id"),
        Objects.requireNonNull((String) ((List<?>) entry.get("process_group")).get(0)),
        OpType.valueOf(text(entry, "operation")),
        number(entry, "sequence_number"),
        dtypes.isEmpty() ? "" : Objects.requireNonNull((String) dtypes.get(0)),
        shapes(entry, "input_sizes"),
        shapes(entry, "output_sizes"),
        number(entry, "agreed_count"),
        text(entry, "detail"),
        (int) number(entry, "peer"),
        Boolean.TRUE.equals(entry.get("failed"))
            ? FlightRecord.State.FAILED
            : FlightRecord.State.valueOf(text(entry, "state").toUpperCase(Locale.ROOT)),
        text(entry, "thread_name"),
        number(entry, "time_created_ns"),
        number(entry, "time_discovered_started_ns"),
        number(entry, "time_discovered_completed_ns"),
        number(entry, "timeout_ms"),
        new FlightRecord.Notes(
            note(entry, "comm_label"), note(entry, "input_hash"), note(entry, "output_hash")));
  }

  private static String note(Map<String, Object> entry, String key) {
    return Objects.requireNonNullElse((String) entry.get(key), "");
  }

  private static List<List<Long>> shapes(Map<String, Object> entry, String key) {
    List<List<Long>> shapes = new ArrayList<>();
    for (Object shape : (List<?>) entry.get(key)) {
      shapes.add(((List<?>) shape).stream().map(each -> ((Number) each).longValue()).toList());
    }
    return shapes;
  }

  private static String text(Map<String, Object> map, String key) {
    return Objects.requireNonNull((String) map.get(key), key);
  }

  private static long number(Map<String, Object> map, String key) {
    Object value = map.get(key);
    return value == null ? 0 : ((Number) value).longValue();
  }

  @SuppressWarnings("unchecked") // The keys of JSON's objects are strings.
  private static Map<String, Object> asMap(Object value) {
    return (Map<String, Object>) value;
  }
}

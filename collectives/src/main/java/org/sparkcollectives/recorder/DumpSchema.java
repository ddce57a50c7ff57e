package org.sparkcollectives.recorder;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.OpType;

/**
 * Converts dumps to maps and lists, in the names of c10d's flight recorder (its version 2.10), with
 * some fields of our own: who the rank is, and what an operation was beyond its sizes.
 *
 * <p>There are no stack frames: walking the stack for each operation would cost more than many an
 * operation takes.
 */
final class DumpSchema {

  static final String VERSION = "2.10";

  private DumpSchema() {}

  /** Returns the map of a whole dump. */
  static Map<String, Object> of(FlightDump dump) {
    Map<String, Object> map = head(dump);
    List<String> groups = dump.groups().stream().map(GroupStatus::name).toList();
    List<Object> entries = new ArrayList<>();
    for (FlightRecord record : dump.records()) {
      Map<String, Object> entry = entry(record, groups.indexOf(record.group()));
      GroupStatus group = RankDump.group(dump, record.group());
      entry.put("process_group", List.of(group.name(), group.description()));
      entry.put("profiling_name", "netty:" + name(record, group.ranks().indexOf(dump.rank())));
      entry.put("operation", record.opType().name());
      entry.put("sequence_number", record.sequenceNumber());
      entry.put("agreed_count", record.agreedCount());
      entry.put("detail", record.detail());
      entry.put("peer", record.peer());
      entry.put("failed", record.state() == FlightRecord.State.FAILED);
      entries.add(entry);
    }
    map.put("entries", entries);
    return map;
  }

  static Map<String, Object> head(FlightDump dump) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("version", VERSION);
    map.put("comm_lib_version", "Spark Collectives");
    map.put("rank", dump.rank());
    map.put("host", dump.host());
    map.put("executor", dump.executorId());
    map.put("task_attempt_id", dump.taskAttemptId());
    map.put("reason", dump.reason());
    map.put("time_taken_ns", dump.takenNanos());
    Map<String, Object> config = new LinkedHashMap<>();
    Map<String, Object> status = new LinkedHashMap<>();
    for (GroupStatus group : dump.groups()) {
      config.put(
          group.name(),
          map("name", group.name(), "desc", group.description(), "ranks", group.ranks() + ""));
      status.put(
          group.name(),
          map(
              "last_enqueued_collective", group.lastEnqueued(),
              "last_started_collective", group.lastStarted(),
              "last_completed_collective", group.lastCompleted()));
    }
    map.put("pg_config", config);
    map.put("pg_status", status);
    return map;
  }

  /** Returns the fields that both layouts of an entry have. */
  static Map<String, Object> entry(FlightRecord record, int group) {
    boolean message = record.opType().isPointToPoint();
    boolean done = record.state() == FlightRecord.State.COMPLETED;
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("frames", List.of());
    entry.put("record_id", record.id());
    entry.put("pg_id", group);
    entry.put("thread_name", record.thread());
    entry.put("collective_seq_id", message ? 0 : record.sequenceNumber());
    entry.put("p2p_seq_id", message ? record.sequenceNumber() : 0);
    entry.put("op_id", record.id());
    entry.put("time_created_ns", record.createdNanos());
    entry.put("input_sizes", record.inputShapes());
    entry.put("input_dtypes", dtypes(record));
    entry.put("output_sizes", record.outputShapes());
    entry.put("output_dtypes", dtypes(record));
    entry.put("state", state(record));
    entry.put("time_discovered_started_ns", orNull(record.startedNanos()));
    entry.put("time_discovered_completed_ns", orNull(record.completedNanos()));
    if (done) {
      entry.put("duration_ms", (record.completedNanos() - record.startedNanos()) / 1e6);
    }
    entry.put("retired", record.completedNanos() != 0);
    entry.put("timeout_ms", record.timeoutMillis());
    entry.put("is_p2p", message);
    return entry;
  }

  /**
   * Returns the state as c10d names it. A failed operation has the state that it reached: c10d has
   * no state for failure.
   */
  private static String state(FlightRecord record) {
    return switch (record.state()) {
      case COMPLETED -> "completed";
      case STARTED -> "started";
      case SCHEDULED -> "scheduled";
      case FAILED -> record.startedNanos() == 0 ? "scheduled" : "started";
    };
  }

  private static Long orNull(long nanos) {
    return nanos == 0 ? null : nanos;
  }

  private static List<Object> dtypes(FlightRecord record) {
    return record.dtype().isEmpty() ? List.of() : List.of(record.dtype());
  }

  /** Returns the operation as c10d's recorder names it. */
  private static String name(FlightRecord record, int self) {
    String peer = record.peer() == FlightRecord.NO_PEER ? "?" : String.valueOf(record.peer());
    return switch (record.opType()) {
      case SEND -> "send " + self + "->" + peer;
      case RECV, RECV_ANY -> "recv " + self + "<-" + peer;
      default -> collective(record.opType());
    };
  }

  /** Returns the collective as c10d's recorder names it. */
  static String collective(OpType type) {
    return switch (type) {
      case ALL_REDUCE_COALESCED -> "allreduce_coalesced";
      case ALL_GATHER_INTO -> "_all_gather_base";
      case REDUCE_SCATTER_INTO -> "_reduce_scatter_base";
      case ALL_TO_ALL_INTO -> "all_to_all";
      default -> type.name().toLowerCase(java.util.Locale.ROOT);
    };
  }

  /**
   * Returns the dump that {@link #of} made a map of.
   *
   * @throws IllegalArgumentException if it is none, or one of another version
   */
  static FlightDump read(Object root) {
    try {
      Map<String, Object> map = asMap(root);
      if (!VERSION.equals(map.get("version"))) {
        throw new IllegalArgumentException(
            "a dump of version " + map.get("version") + ", not " + VERSION);
      }
      List<GroupStatus> groups = new ArrayList<>();
      asMap(map.get("pg_config"))
          .forEach((name, config) -> groups.add(group(asMap(config), asMap(map.get("pg_status")))));
      return new RankDump(
          (int) number(map, "rank"),
          text(map, "host"),
          text(map, "executor"),
          number(map, "task_attempt_id"),
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
            : FlightRecord.State.valueOf(text(entry, "state").toUpperCase(java.util.Locale.ROOT)),
        text(entry, "thread_name"),
        number(entry, "time_created_ns"),
        number(entry, "time_discovered_started_ns"),
        number(entry, "time_discovered_completed_ns"),
        number(entry, "timeout_ms"));
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

  static Map<String, Object> map(Object... keysAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put((String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return map;
  }
}

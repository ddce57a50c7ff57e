package org.sparkcollectives.recorder;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
      GroupStatus group = group(dump, record.group());
      entry.put("process_group", List.of(group.name(), group.description()));
      entry.put("profiling_name", "netty:" + name(record, group.ranks().indexOf(dump.rank())));
      entry.put("operation", record.opType().name());
      entry.put("sequence_number", record.sequenceNumber());
      entry.put("agreed_count", record.agreedCount());
      entry.put("detail", record.detail());
      entry.put("peer", record.peer());
      entry.put("failed", record.state() == FlightRecord.State.FAILED);
      note(entry, "comm_label", record.notes().label());
      note(entry, "input_hash", record.notes().inputHash());
      note(entry, "output_hash", record.notes().outputHash());
      entries.add(entry);
    }
    map.put("entries", entries);
    return map;
  }

  private static void note(Map<String, Object> entry, String key, String text) {
    if (!text.isEmpty()) {
      entry.put(key, text);
    }
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

  /** Returns the group of this name in a dump; null if the rank is not in it. */
  static GroupStatus group(FlightDump dump, String name) {
    return dump.groups().stream()
        .filter(group -> group.name().equals(name))
        .findFirst()
        .orElse(null);
  }

  static Map<String, Object> map(Object... keysAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put((String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return map;
  }
}

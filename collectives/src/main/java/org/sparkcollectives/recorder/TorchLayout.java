package org.sparkcollectives.recorder;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.OpType;

/**
 * Converts a dump to what PyTorch's analyser ({@code torch.distributed.flight_recorder}) expects:
 * the schema of {@link DumpSchema}, and some assumptions of that program.
 *
 * <ul>
 *   <li>The library must be one that it knows, so operations are called {@code gloo:}.
 *   <li>It begins at the highest of the ranks' first record ids, so these must mean the same
 *       operation on all ranks. In a single group they are sequence numbers. In several groups they
 *       count from the first operation of all, or, if that is overwritten, from {@link Starts}.
 *   <li>It expects every rank of a group to take part in each message. So the messages from one
 *       rank to another with one tag are a group of these two, counted from the first: they are
 *       left out if that is overwritten.
 * </ul>
 */
final class TorchLayout {

  private static final String MESSAGES = "messages";

  private final FlightDump dump;
  private final Starts starts;
  private final boolean whole;
  private final List<String> groups;
  private final List<Object> entries = new ArrayList<>();
  private final Map<String, Object> config;
  private final Map<String, Long> messages = new HashMap<>();

  @SuppressWarnings("unchecked") // The cast is safe for a map that DumpSchema made.
  private TorchLayout(FlightDump dump, Map<String, Object> head, Starts starts) {
    this.dump = dump;
    this.starts = starts;
    this.whole = starts == null ? isWhole(dump) : starts.whole();
    this.groups = dump.groups().stream().map(GroupStatus::name).toList();
    this.config = (Map<String, Object>) head.get("pg_config");
  }

  /**
   * The first collectives that the dumps of several ranks have in common.
   *
   * @param first the first collective of each group that all its ranks remember
   * @param whole whether no rank has overwritten anything
   */
  record Starts(Map<String, Long> first, boolean whole) {

    /** Returns the starts of dumps of one world. */
    static Starts of(List<FlightDump> dumps) {
      Map<String, Long> first = new HashMap<>();
      for (FlightDump dump : dumps) {
        for (GroupStatus group : dump.groups()) {
          long mine =
              dump.records().stream()
                  .filter(record -> record.group().equals(group.name()))
                  .filter(record -> isKnown(record.opType()))
                  .mapToLong(FlightRecord::sequenceNumber)
                  .findFirst()
                  .orElse(group.lastEnqueued() + 1);
          first.merge(group.name(), mine, Math::max);
        }
      }
      return new Starts(first, dumps.stream().allMatch(TorchLayout::isWhole));
    }
  }

  private static boolean isWhole(FlightDump dump) {
    return dump.records().isEmpty() || dump.records().get(0).id() == 0;
  }

  /** Returns the layout of a dump by itself. */
  static Map<String, Object> of(FlightDump dump) {
    return of(dump, null);
  }

  /**
   * Returns the layout of one of several dumps.
   *
   * @param starts of all of them; null where the others are not known
   */
  static Map<String, Object> of(FlightDump dump, Starts starts) {
    Map<String, Object> map = DumpSchema.head(dump);
    TorchLayout layout = new TorchLayout(dump, map, starts);
    dump.records().forEach(layout::add);
    map.put("entries", layout.entries);
    return map;
  }

  private void add(FlightRecord record) {
    if (isKnown(record.opType())) {
      long begin =
          starts == null ? Long.MIN_VALUE : starts.first().getOrDefault(record.group(), 0L);
      if (record.sequenceNumber() >= begin) {
        addCollective(record);
      }
    } else if (record.opType().isPointToPoint() && record.peer() >= 0 && whole) {
      addMessage(record);
    }
  }

  private void addCollective(FlightRecord record) {
    GroupStatus group = DumpSchema.group(dump, record.group());
    Map<String, Object> entry = entry(record);
    entry.put("process_group", List.of(group.name(), group.description()));
    entry.put("profiling_name", "gloo:" + name(record.opType()));
    if (starts != null || (groups.size() > 1 && whole)) {
      entry.put("record_id", entries.size());
    } else if (groups.size() == 1) {
      entry.put("record_id", record.sequenceNumber());
    }
    if (record.opType() == OpType.ALL_REDUCE_SPARSE) {
      // The number of stored elements may differ by rank, which is no mismatch.
      entry.put("input_sizes", List.of());
      entry.put("output_sizes", List.of());
    }
    entries.add(entry);
  }

  private void addMessage(FlightRecord record) {
    GroupStatus group = DumpSchema.group(dump, record.group());
    boolean sends = record.opType() == OpType.SEND;
    if (record.peer() >= group.ranks().size()) {
      return;
    }
    int peer = group.ranks().get(record.peer());
    int from = sends ? dump.rank() : peer;
    int to = sends ? peer : dump.rank();
    List<Integer> pair = from < to ? List.of(from, to) : List.of(to, from);
    String name = group.name() + "/" + MESSAGES + " " + from + "->" + to + tag(record);
    config.putIfAbsent(name, DumpSchema.map("name", name, "desc", MESSAGES, "ranks", pair + ""));
    long number = messages.merge(name, 1L, Long::sum) - 1;
    Map<String, Object> entry = entry(record);
    entry.put("process_group", List.of(name, MESSAGES));
    entry.put(
        "profiling_name",
        sends
            ? "gloo:send " + pair.indexOf(from) + "->" + pair.indexOf(to)
            : "gloo:recv " + pair.indexOf(to) + "<-" + pair.indexOf(from));
    entry.put("collective_seq_id", number);
    entry.put("p2p_seq_id", number);
    entry.put("record_id", entries.size());
    entries.add(entry);
  }

  private Map<String, Object> entry(FlightRecord record) {
    Map<String, Object> entry =
        new LinkedHashMap<>(DumpSchema.entry(record, groups.indexOf(record.group())));
    for (String sizes : List.of("input_sizes", "output_sizes")) {
      if (!record.dtype().isEmpty() && ((List<?>) entry.get(sizes)).isEmpty()) {
        // The analyser reads the first of them.
        entry.put(sizes, List.of(List.of(0L)));
      }
    }
    return entry;
  }

  /** Returns the tag with which the messages of two ranks match. */
  private static String tag(FlightRecord record) {
    int at = record.detail().lastIndexOf("tag ");
    return at < 0 ? "" : " " + record.detail().substring(at);
  }

  private static boolean isKnown(OpType type) {
    return !type.isPointToPoint() && type.code() < OpType.FINGERPRINT.code();
  }

  private static String name(OpType type) {
    return type == OpType.ALL_REDUCE_SPARSE ? "all_reduce" : DumpSchema.collective(type);
  }
}

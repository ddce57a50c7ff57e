package org.sparkcollectives.recorder;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.OpType;

/**
 * A dump as PyTorch's analyser ({@code torch.distributed.flight_recorder}) takes it: the schema of
 * {@link DumpSchema}, and what that program takes for granted besides.
 *
 * <ul>
 *   <li>The library must be one that it knows, so operations are called {@code gloo:}.
 *   <li>It expects every rank of a group to take part in each message, and takes what follows for
 *       mismatches where a rank does not: messages are left out.
 *   <li>It begins at the highest of the ranks' first record ids, so these must mean the same
 *       operation on all ranks: in a single group they are sequence numbers.
 * </ul>
 */
final class TorchLayout {

  private TorchLayout() {}

  static Map<String, Object> of(FlightDump dump) {
    Map<String, Object> map = DumpSchema.head(dump);
    List<String> groups = dump.groups().stream().map(GroupStatus::name).toList();
    List<FlightRecord> collectives =
        dump.records().stream().filter(record -> isKnown(record.opType())).toList();
    boolean whole = dump.records().isEmpty() || dump.records().get(0).id() == 0;
    boolean oneGroup = groups.size() == 1;
    List<Object> entries = new ArrayList<>();
    for (FlightRecord record : collectives) {
      Map<String, Object> entry =
          new LinkedHashMap<>(DumpSchema.entry(record, groups.indexOf(record.group())));
      GroupStatus group = dump.group(record.group());
      entry.put("process_group", List.of(group.name(), group.description()));
      entry.put("profiling_name", "gloo:" + name(record.opType()));
      if (oneGroup) {
        entry.put("record_id", record.sequenceNumber());
      } else if (whole) {
        entry.put("record_id", entries.size());
      }
      if (record.opType() == OpType.ALL_REDUCE_SPARSE) {
        // How much each rank stores may differ, which is no mismatch.
        entry.put("input_sizes", List.of());
        entry.put("output_sizes", List.of());
      }
      entries.add(entry);
    }
    map.put("entries", entries);
    return map;
  }

  private static boolean isKnown(OpType type) {
    return !type.isPointToPoint() && type.code() < OpType.FINGERPRINT.code();
  }

  private static String name(OpType type) {
    return type == OpType.ALL_REDUCE_SPARSE ? "all_reduce" : DumpSchema.collective(type);
  }
}

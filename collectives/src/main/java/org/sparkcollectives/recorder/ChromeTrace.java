package org.sparkcollectives.recorder;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatus;

/**
 * Writes dumps as a trace that Perfetto (ui.perfetto.dev) and Chrome's {@code chrome://tracing}
 * show. Each rank is a process, with a line for each group's collectives and one for its messages.
 *
 * <p>The ranks' times are those of their hosts' clocks.
 */
public final class ChromeTrace {

  private ChromeTrace() {}

  /** Returns the trace as JSON, in the Trace Event Format. */
  public static byte[] of(List<FlightDump> dumps) {
    List<Object> events = new ArrayList<>();
    for (FlightDump dump : dumps) {
      events.add(label("process_name", dump.rank(), 0, dump.where()));
      for (int line = 0; line < dump.groups().size(); line++) {
        events.add(label("thread_name", dump.rank(), line, dump.groups().get(line).name()));
      }
      List<String> lines = dump.groups().stream().map(GroupStatus::name).toList();
      for (FlightRecord record : dump.records()) {
        add(events, dump, record, lines.indexOf(record.group()));
      }
    }
    return JsonText.write(DumpSchema.map("traceEvents", events, "displayTimeUnit", "ms"));
  }

  private static Map<String, Object> label(String kind, int rank, int line, String text) {
    return DumpSchema.map(
        "name", kind, "ph", "M", "pid", rank, "tid", line, "args", DumpSchema.map("name", text));
  }

  private static void add(List<Object> events, FlightDump dump, FlightRecord record, int line) {
    long begin = record.startedNanos() == 0 ? record.createdNanos() : record.startedNanos();
    long end = record.completedNanos() == 0 ? dump.takenNanos() : record.completedNanos();
    if (record.opType().isPointToPoint()) {
      // Messages overlap, and only asynchronous events may.
      Map<String, Object> start = event(record, dump.rank(), line, "b", record.createdNanos());
      Map<String, Object> stop = event(record, dump.rank(), line, "e", end);
      start.put("id", dump.rank() + "." + record.id());
      stop.put("id", dump.rank() + "." + record.id());
      events.add(start);
      events.add(stop);
    } else {
      Map<String, Object> slice = event(record, dump.rank(), line, "X", begin);
      slice.put("dur", (end - begin) / 1e3);
      events.add(slice);
    }
  }

  private static Map<String, Object> event(
      FlightRecord record, int rank, int line, String phase, long nanos) {
    return DumpSchema.map(
        "name",
        (record.notes().label().isEmpty() ? "" : record.notes().label() + ": ")
            + record.opType().label()
            + " #"
            + record.sequenceNumber(),
        "cat",
        record.opType().isPointToPoint() ? "message" : "collective",
        "ph",
        phase,
        "ts",
        nanos / 1e3,
        "pid",
        rank,
        "tid",
        line,
        "args",
        DumpSchema.map(
            "operation",
            record.describe(),
            "state",
            record.state().name(),
            "queued_ms",
            record.startedNanos() == 0
                ? null
                : (record.startedNanos() - record.createdNanos()) / 1e6));
  }
}

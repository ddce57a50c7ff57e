package org.sparkcollectives.recorder;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatus;

/**
 * Compares the records of one group's ranks: collectives with the same number should be the same
 * call. Ranks are those in the world.
 */
final class GroupTrace {

  private static final int MOST_MESSAGES = 10;

  /** The fewest collectives that tell which rank is slow. */
  private static final int FEWEST_TO_COMPARE = 10;

  /** The shortest average wait for a rank that is reported. */
  private static final double SLOW_NANOS = 1e6;

  private final GroupStatus group;
  private final List<FlightDump> dumps;

  /** The records by number and by rank; a rank that has overwritten a number is not in its map. */
  private final Map<Long, Map<Integer, FlightRecord>> collectives = new TreeMap<>();

  GroupTrace(GroupStatus group, List<FlightDump> dumps) {
    this.group = group;
    this.dumps = dumps;
    for (FlightDump dump : dumps) {
      for (FlightRecord record : dump.records()) {
        if (record.group().equals(group.name()) && !record.opType().isPointToPoint()) {
          collectives
              .computeIfAbsent(record.sequenceNumber(), number -> new TreeMap<>())
              .put(dump.rank(), record);
        }
      }
    }
  }

  /** The part of a call that ranks must have in common under a number. */
  private record Call(Object type, String dtype, long count, String detail) {
    static Call of(FlightRecord record) {
      return new Call(record.opType(), record.dtype(), record.agreedCount(), record.detail());
    }
  }

  /**
   * Returns the first numbers under which ranks called different things, at most {@code cap}; those
   * that follow are most often consequences of the first.
   */
  List<String> mismatches(int cap) {
    List<String> lines = new ArrayList<>();
    for (Map<Integer, FlightRecord> calls : collectives.values()) {
      Map<Call, List<Integer>> byCall = new LinkedHashMap<>();
      calls.forEach(
          (rank, record) ->
              byCall.computeIfAbsent(Call.of(record), call -> new ArrayList<>()).add(rank));
      if (byCall.size() > 1) {
        String sides =
            byCall.values().stream()
                .map(ranks -> Ranks.named(ranks) + " called " + calls.get(ranks.get(0)).describe())
                .collect(Collectors.joining("; "));
        lines.add("In " + name() + " the calls do not match: " + sides + ".");
      }
      if (lines.size() >= cap) {
        return lines;
      }
    }
    return lines;
  }

  /**
   * Returns the first collective that is not done on all ranks, and which ranks do not take part.
   */
  List<String> unfinished() {
    for (Map.Entry<Long, Map<Integer, FlightRecord>> each : collectives.entrySet()) {
      Map<Integer, FlightRecord> calls = each.getValue();
      List<Integer> waiting = ranksIn(calls, FlightRecord.State.STARTED, FlightRecord.State.FAILED);
      List<Integer> queued = ranksIn(calls, FlightRecord.State.SCHEDULED);
      List<FlightDump> absent =
          dumps.stream()
              .filter(dump -> status(dump) == null || status(dump).lastEnqueued() < each.getKey())
              .toList();
      if (!waiting.isEmpty() || !queued.isEmpty()) {
        return List.of(unfinished(calls, waiting, queued, absent));
      }
    }
    return List.of();
  }

  private String unfinished(
      Map<Integer, FlightRecord> calls,
      List<Integer> waiting,
      List<Integer> queued,
      List<FlightDump> absent) {
    List<Integer> done = ranksIn(calls, FlightRecord.State.COMPLETED);
    List<Integer> inIt = waiting.isEmpty() ? queued : waiting;
    FlightRecord first = calls.get(inIt.get(0));
    StringBuilder text = new StringBuilder();
    text.append(first.describe()).append(" of ").append(name()).append(" did not end: ");
    String were = inIt.size() == 1 ? " was in it" : " were in it";
    text.append(Ranks.named(inIt)).append(waiting.isEmpty() ? " had it in the queue" : were);
    text.append(since(inIt.get(0), first));
    if (!done.isEmpty()) {
      text.append("; ").append(Ranks.named(done)).append(" had ended it");
    }
    for (FlightDump dump : absent) {
      text.append("; ").append(dump.where()).append(" had not called it, ").append(last(dump));
    }
    return text.append('.').toString();
  }

  private String since(int rank, FlightRecord record) {
    long begin = record.startedNanos() == 0 ? record.createdNanos() : record.startedNanos();
    FlightDump dump = dumpOf(rank);
    return String.format(
        Locale.ROOT, " for %.3f s when rank %d dumped", (dump.takenNanos() - begin) / 1e9, rank);
  }

  private String last(FlightDump dump) {
    GroupStatus status = status(dump);
    if (status == null || status.lastEnqueued() < 0) {
      return "nor any other collective of the group";
    }
    Map<Integer, FlightRecord> calls = collectives.getOrDefault(status.lastEnqueued(), Map.of());
    FlightRecord record = calls.get(dump.rank());
    if (record == null) {
      return "its last was #" + status.lastEnqueued();
    }
    String ago =
        record.completedNanos() == 0
            ? "not ended"
            : String.format(
                Locale.ROOT,
                "ended %.3f s before it dumped",
                (dump.takenNanos() - record.completedNanos()) / 1e9);
    return "its last was " + record.describe() + ", " + ago;
  }

  /** Returns the messages that were not delivered. */
  List<String> messages() {
    List<String> lines = new ArrayList<>();
    for (FlightDump dump : dumps) {
      for (FlightRecord record : dump.records()) {
        boolean pending =
            record.group().equals(group.name())
                && record.opType().isPointToPoint()
                && record.state() != FlightRecord.State.COMPLETED;
        if (pending) {
          lines.add(
              dump.where()
                  + " waited in "
                  + record.describe()
                  + " of "
                  + name()
                  + (record.startedNanos() == 0
                      ? ", for which its peer had called nothing."
                      : ", which did not get through."));
        }
      }
    }
    if (lines.size() > MOST_MESSAGES) {
      int more = lines.size() - MOST_MESSAGES;
      lines.subList(MOST_MESSAGES, lines.size()).clear();
      lines.add(more + " further messages of " + name() + " did not get through.");
    }
    return lines;
  }

  /**
   * Returns the rank that the others wait for most. The rank that comes last has the shortest
   * operation, so the clocks of different hosts need not be compared.
   */
  List<String> slowest() {
    Map<Integer, Double> lags = new TreeMap<>();
    int compared = 0;
    for (Map<Integer, FlightRecord> calls : collectives.values()) {
      if (calls.size() == group.ranks().size()
          && calls.values().stream().allMatch(this::isWaited)) {
        compared++;
        double longest = calls.values().stream().mapToDouble(this::nanos).max().orElse(0);
        calls.forEach((rank, record) -> lags.merge(rank, longest - nanos(record), Double::sum));
      }
    }
    int count = compared;
    return lags.entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .filter(most -> count >= FEWEST_TO_COMPARE && most.getValue() / count > SLOW_NANOS)
        .map(
            most ->
                String.format(
                    Locale.ROOT,
                    "In %s rank %d came last most: the others waited %.1f ms for it on average in"
                        + " the %,d collectives that all ranks remember.",
                    name(),
                    most.getKey(),
                    most.getValue() / count / 1e6,
                    count))
        .stream()
        .toList();
  }

  /**
   * Returns the first collective that left different elements on ranks that should have the same,
   * by the hashes of its outputs, if they were recorded.
   */
  List<String> differentResults() {
    for (Map<Integer, FlightRecord> calls : collectives.values()) {
      Map<String, List<Integer>> byHash = new LinkedHashMap<>();
      calls.forEach(
          (rank, record) -> {
            String hash = record.notes().outputHash();
            if (!hash.isEmpty() && isSameEverywhere(record)) {
              byHash.computeIfAbsent(hash, each -> new ArrayList<>()).add(rank);
            }
          });
      if (byHash.size() > 1) {
        List<String> sides = new ArrayList<>();
        byHash.forEach((hash, ranks) -> sides.add(hash + " on " + Ranks.named(ranks)));
        String call = calls.values().iterator().next().describe();
        return List.of(
            call
                + " of "
                + name()
                + " left different results; the hashes of its outputs are "
                + String.join(" and ", sides)
                + ".");
      }
    }
    return List.of();
  }

  /** Returns whether all ranks have the same elements after the operation. */
  private static boolean isSameEverywhere(FlightRecord record) {
    return switch (record.opType()) {
      case BROADCAST, ALL_REDUCE, ALL_REDUCE_COALESCED, ALL_GATHER, ALL_GATHER_INTO -> true;
      default -> false;
    };
  }

  /** Returns whether the operation succeeded and cannot end on any rank before all have come. */
  private boolean isWaited(FlightRecord record) {
    return record.state() == FlightRecord.State.COMPLETED
        && switch (record.opType()) {
          case BROADCAST, REDUCE, GATHER, SCATTER -> false;
          default -> true;
        };
  }

  private double nanos(FlightRecord record) {
    return record.completedNanos() - record.startedNanos();
  }

  private static List<Integer> ranksIn(
      Map<Integer, FlightRecord> calls, FlightRecord.State... states) {
    return calls.entrySet().stream()
        .filter(each -> List.of(states).contains(each.getValue().state()))
        .map(Map.Entry::getKey)
        .toList();
  }

  private GroupStatus status(FlightDump dump) {
    return DumpSchema.group(dump, group.name());
  }

  private FlightDump dumpOf(int rank) {
    return dumps.stream()
        .filter(dump -> dump.rank() == rank)
        .findFirst()
        .map(Objects::requireNonNull)
        .orElseThrow();
  }

  private String name() {
    return "group \"" + group.name() + "\"";
  }
}

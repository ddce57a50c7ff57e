package org.sparkcollectives.recorder;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the flight recorder of one rank held at one moment.
 *
 * @param rank the rank in the world
 * @param host where the rank is
 * @param executorId the Spark executor, or a name for the process
 * @param taskAttemptId the Spark task attempt, or -1
 * @param reason why the dump was made
 * @param takenNanos when, in nanoseconds since the epoch
 * @param groups the rank's groups, those that are closed only as long as there are records of them
 * @param records the operations of all groups, oldest first
 */
public record FlightDump(
    int rank,
    String host,
    String executorId,
    long taskAttemptId,
    String reason,
    long takenNanos,
    List<GroupStatus> groups,
    List<FlightRecord> records) {

  /** Keeps a dump below some megabytes, however many records a recorder keeps. */
  static final int MOST_RECORDS = 20_000;

  /** The newest records only, if there are too many, and only those of the groups. */
  public FlightDump {
    groups = List.copyOf(groups);
    Set<String> names = groups.stream().map(GroupStatus::name).collect(Collectors.toSet());
    records =
        records.stream()
            .skip(Math.max(0, records.size() - MOST_RECORDS))
            .filter(record -> names.contains(record.group()))
            .toList();
  }

  /** The rank and where it is, as messages have it. */
  public String where() {
    return "rank " + rank + " (" + host + ", executor " + executorId + ")";
  }

  /** The group of this name; null if the rank is not in it. */
  GroupStatus group(String name) {
    return groups.stream().filter(group -> group.name().equals(name)).findFirst().orElse(null);
  }
}

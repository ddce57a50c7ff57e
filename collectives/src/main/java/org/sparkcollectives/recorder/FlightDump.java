package org.sparkcollectives.recorder;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The contents of one rank's flight recorder at one moment.
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

  /**
   * The most records in a dump, which keeps it below some megabytes, however many records a
   * recorder keeps.
   */
  static final int MOST_RECORDS = 20_000;

  /** Keeps only the newest records, if there are too many, and only those of the groups. */
  public FlightDump {
    groups = List.copyOf(groups);
    Set<String> names = groups.stream().map(GroupStatus::name).collect(Collectors.toSet());
    records =
        records.stream()
            .skip(Math.max(0, records.size() - MOST_RECORDS))
            .filter(record -> names.contains(record.group()))
            .toList();
  }

  /**
   * Returns this dump with only those records that have not ended: c10d's {@code onlyActive}. The
   * groups, and how far they have come, stay.
   */
  public FlightDump onlyActive() {
    return with(records.stream().filter(record -> record.completedNanos() == 0).toList());
  }

  /** Returns this dump without records: with c10d's {@code includeCollectives} of false. */
  public FlightDump withoutRecords() {
    return with(List.of());
  }

  private FlightDump with(List<FlightRecord> others) {
    return new FlightDump(
        rank, host, executorId, taskAttemptId, reason, takenNanos, groups, others);
  }

  /** Returns this dump as JSON, see {@link DumpFolder#json}. */
  public String toJson() {
    return new String(DumpFolder.json(this), StandardCharsets.UTF_8);
  }

  /**
   * Writes this dump as {@code dump-N.json} and, for PyTorch's analyser, {@code rank_N} into a
   * folder, which is created if necessary. {@link FlightTrace} reads the dumps of all ranks there.
   */
  public void writeTo(Path folder) throws IOException {
    new DumpFolder(folder).write(this);
  }

  /** Returns the rank and where it is, as messages name it. */
  public String where() {
    return "rank " + rank + " (" + host + ", executor " + executorId + ")";
  }

  /** Returns the group of this name; null if the rank is not in it. */
  GroupStatus group(String name) {
    return groups.stream().filter(group -> group.name().equals(name)).findFirst().orElse(null);
  }
}

package org.sparkcollectives.recorder;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatus;

/**
 * A dump, made by a rank or read from a file.
 *
 * @param rank the rank in the world
 * @param host the host of the rank
 * @param executorId the Spark executor, or a name for the process
 * @param taskAttemptId the Spark task attempt, or -1
 * @param reason why the dump was made
 * @param takenNanos when, in nanoseconds since the epoch
 * @param groups the rank's groups, those that are closed only as long as there are records of them
 * @param records the operations of all groups, oldest first
 */
public record RankDump(
    int rank,
    String host,
    String executorId,
    long taskAttemptId,
    String reason,
    long takenNanos,
    List<GroupStatus> groups,
    List<FlightRecord> records)
    implements FlightDump {

  /**
   * The most records in a dump, which keeps it below some megabytes, however many records a
   * recorder keeps.
   */
  static final int MOST_RECORDS = 20_000;

  /** Keeps only the newest records, if there are too many, and only those of the groups. */
  public RankDump {
    groups = List.copyOf(groups);
    Set<String> names = groups.stream().map(GroupStatus::name).collect(Collectors.toSet());
    records =
        records.stream()
            .skip(Math.max(0, records.size() - MOST_RECORDS))
            .filter(record -> names.contains(record.group()))
            .toList();
  }

  @Override
  public FlightDump onlyActive() {
    return with(records.stream().filter(record -> record.completedNanos() == 0).toList());
  }

  @Override
  public FlightDump withoutRecords() {
    return with(List.of());
  }

  private FlightDump with(List<FlightRecord> others) {
    return new RankDump(rank, host, executorId, taskAttemptId, reason, takenNanos, groups, others);
  }

  @Override
  public String toJson() {
    return new String(DumpFolder.json(this), StandardCharsets.UTF_8);
  }

  @Override
  public void writeTo(Path folder) throws IOException {
    new DumpFolder(folder).write(this);
  }

  /** Returns the group of this name in a dump; null if the rank is not in it. */
  static GroupStatus group(FlightDump dump, String name) {
    return dump.groups().stream()
        .filter(group -> group.name().equals(name))
        .findFirst()
        .orElse(null);
  }
}

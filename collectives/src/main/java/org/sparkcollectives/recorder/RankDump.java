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
import org.sparkcollectives.RankLocation;

/**
 * A dump, made by a rank or read from a file.
 *
 * @param location the rank in the world, and where it runs
 * @param reason why the dump was made
 * @param takenNanos when, in nanoseconds since the epoch
 * @param groups the rank's groups, those that are closed only as long as there are records of them
 * @param records the operations of all groups, oldest first
 */
public record RankDump(
    RankLocation location,
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
  public int rank() {
    return location.rank();
  }

  @Override
  public String host() {
    return location.host();
  }

  @Override
  public String executorId() {
    return location.executorId();
  }

  @Override
  public long taskAttemptId() {
    return location.taskAttemptId();
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
    return new RankDump(location, reason, takenNanos, groups, others);
  }

  @Override
  public String toJson() {
    return new String(DumpFiles.json(this), StandardCharsets.UTF_8);
  }

  @Override
  public void writeTo(Path folder) throws IOException {
    DumpFiles.write(folder, this);
  }
}

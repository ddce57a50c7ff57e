package org.sparkcollectives;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The contents of one rank's flight recorder at one moment. Immutable. */
public interface FlightDump {

  /** Returns the rank in the world. */
  int rank();

  /** Returns the host of the rank. */
  String host();

  /** Returns the id of the Spark executor, or a name for the process. */
  String executorId();

  /** Returns the id of the Spark task attempt, or -1. */
  long taskAttemptId();

  /** Returns the reason why the dump was made. */
  String reason();

  /** Returns the time when the dump was made, in nanoseconds since the epoch. */
  long takenNanos();

  /** Returns the rank's groups; a closed group is among them while there are records of it. */
  List<GroupStatus> groups();

  /** Returns the operations of all groups, oldest first. */
  List<FlightRecord> records();

  /**
   * Returns this dump with only those records that have not ended: c10d's {@code onlyActive}. The
   * groups, and how far they have come, stay.
   */
  FlightDump onlyActive();

  /** Returns this dump without records: with c10d's {@code includeCollectives} of false. */
  FlightDump withoutRecords();

  /** Returns this dump as JSON. */
  String toJson();

  /**
   * Writes this dump as {@code dump-N.json} and, for PyTorch's analyser, {@code rank_N} into a
   * folder, which is created if necessary. {@link org.sparkcollectives.recorder.FlightTrace} reads
   * the dumps of all ranks there.
   */
  void writeTo(Path folder) throws IOException;

  /** Returns the rank and where it is, as messages name it. */
  default String where() {
    return "rank " + rank() + " (" + host() + ", executor " + executorId() + ")";
  }
}
